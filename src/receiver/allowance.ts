/**
 * How often something may happen, by key, counted in memory. All times are of a monotonic clock. Keys are forgotten once
 * they say nothing any more, so that a flood under ever new keys leaves nothing behind.
 */

const SWEEP_INTERVAL_MS = 60_000;

/** `burst` times at once, then once more every `intervalMs`. `take` counts and is true when it may happen now. */
export function createAllowance(
  { burst, intervalMs }: { burst: number; intervalMs: number },
  nowMs: () => number = () => performance.now(),
) {
  // Per key the time at which its allowance is full again; a time in the past is the same as no entry.
  const fullAtMs = new Map<string, number>();
  const sweep = sweeper(nowMs, (now) => {
    for (const [key, fullAt] of fullAtMs) if (fullAt <= now) fullAtMs.delete(key);
  });
  return {
    /** Returns true while the allowance of a key is not full again. */
    remembers: (key: string): boolean => (fullAtMs.get(key) ?? 0) > nowMs(),
    take(key: string): boolean {
      const now = sweep();
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

/** At most `max` times in any window of `windowMs`. */
export function createWindow(
  { max, windowMs }: { max: number; windowMs: number },
  nowMs: () => number = () => performance.now(),
) {
  const takenAtMs = new Map<string, number[]>();
  const recent = (key: string, now: number) => (takenAtMs.get(key) ?? []).filter((at) => now - at < windowMs);
  const sweep = sweeper(nowMs, (now) => {
    for (const key of takenAtMs.keys()) if (recent(key, now).length === 0) takenAtMs.delete(key);
  });
  return {
    take(key: string): boolean {
      const now = sweep();
      const taken = recent(key, now);
      if (taken.length >= max) return false;
      takenAtMs.set(key, [...taken, now]);
      return true;
    },
    size: () => takenAtMs.size,
  };
}

/** Forgets once a minute at most; returns the time it looked at. */
function sweeper(nowMs: () => number, forget: (now: number) => void): () => number {
  let sweptAtMs = nowMs();
  return () => {
    const now = nowMs();
    if (now - sweptAtMs >= SWEEP_INTERVAL_MS) {
      forget(now);
      sweptAtMs = now;
    }
    return now;
  };
}
