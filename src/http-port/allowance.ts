/** Time between two searches for keys that mean nothing any more: a flood of new keys leaves nothing behind. */
const SWEEP_INTERVAL_MS = 60_000;

/** Allows something by key: `burst` times at once, then once more every `intervalMs`. */
export function createAllowance(
  { burst, intervalMs }: { burst: number; intervalMs: number },
  nowMs: () => number = () => performance.now(),
) {
  // Per key the time at which its allowance is full again; a time in the past is the same as no entry.
  const fullAtMs = new Map<string, number>();
  let sweptAtMs = nowMs();
  function sweep(now: number): void {
    if (now - sweptAtMs < SWEEP_INTERVAL_MS) return;
    sweptAtMs = now;
    for (const [key, fullAt] of fullAtMs) if (fullAt <= now) fullAtMs.delete(key);
  }
  return {
    /** Returns true while the allowance of a key is not full again. */
    remembers: (key: string): boolean => (fullAtMs.get(key) ?? 0) > nowMs(),
    take(key: string): boolean {
      const now = nowMs();
      sweep(now);
      const fullAt = Math.max(now, fullAtMs.get(key) ?? now) + intervalMs;
      if (fullAt - now > burst * intervalMs) return false;
      fullAtMs.set(key, fullAt);
      return true;
    },
    /** It did not happen after all. */
    giveBack(key: string): void {
      const fullAt = (fullAtMs.get(key) ?? 0) - intervalMs;
      if (fullAt <= nowMs()) fullAtMs.delete(key);
      else fullAtMs.set(key, fullAt);
    },
    /** Keys remembered now. */
    size: () => fullAtMs.size,
  };
}
