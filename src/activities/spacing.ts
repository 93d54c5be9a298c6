/** When the last turn of those who ask again is due; by performance.now. */
export interface Spacing {
  atMs: number;
}

/** Returns the ms until the next turn: `leastMs` or more, and `betweenMs` after the turn before. */
export function nextTurnMs(
  spacing: Spacing,
  leastMs: number,
  betweenMs: number,
  mostMs = Number.POSITIVE_INFINITY,
): number {
  const nowMs = performance.now();
  spacing.atMs = Math.min(Math.max(nowMs + leastMs, spacing.atMs + betweenMs), nowMs + mostMs);
  return spacing.atMs - nowMs;
}
