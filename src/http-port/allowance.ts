/** Interval of removing expired keys, so that a flood leaves nothing behind. */
const SWEEP_INTERVAL_MS = 60_000;

/** Returns an allowance per key: `burst` times at once, then once per `intervalMs`. */
export function createAllowance(
  { burst, intervalMs }: { burst: number; intervalMs: number },
  nowMs: () => number = () => performance.now(),
) {
  // Time per key at which its allowance is full again. A past time equals no entry.
  const fullAtMs = new Map<string, number>();
  let sweptAtMs = nowMs();
  function sweep(now: number): void {
    if (now - sweptAtMs < SWEEP_INTERVAL_MS) return;
    sweptAtMs = now;
    for (const [key, fullAt] of fullAtMs) if (fullAt <= now) fullAtMs.delete(key);
  }
  return {
    /** Returns true while the allowance of a key is not full. */
    remembers: (key: string): boolean => (fullAtMs.get(key) ?? 0) > nowMs(),
    take(key: string): boolean {
      const now = nowMs();
      sweep(now);
      const fullAt = Math.max(now, fullAtMs.get(key) ?? now) + intervalMs;
      if (fullAt - now > burst * intervalMs) return false;
      fullAtMs.set(key, fullAt);
      return true;
    },
    /** Reverts a `take`. */
    giveBack(key: string): void {
      const fullAt = (fullAtMs.get(key) ?? 0) - intervalMs;
      if (fullAt <= nowMs()) fullAtMs.delete(key);
      else fullAtMs.set(key, fullAt);
    },
    /** Returns the number of remembered keys. */
    size: () => fullAtMs.size,
  };
}
