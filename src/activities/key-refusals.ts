/**
 * Workflows of an account that one worker tells of a refused key within a minute; each of them
 * costs history.
 */
const MOST_PER_MINUTE = 10;

/**
 * A workflow is told again after a minute, then after four, and so on: a key may be refused for one
 * operation alone.
 */
const [FIRST_PAUSE_MS, PAUSE_GROWS] = [60_000, 4];

/** Workflows that are remembered. */
const MOST_KNOWN = 1_000;

/**
 * Which workflows of an account this worker told that the service refuses the key. The others are
 * told by their alarm, after 15 min.
 */
export class KeyRefusals {
  readonly #told = new Map<string, { atMs: number; pauseMs: number }>();

  /**
   * Returns true, and counts it, if a run may be told now; `nowMs` of a clock that only runs
   * forward.
   */
  mayTell(runId: string, nowMs: number): boolean {
    const before = this.#told.get(runId);
    if (before && nowMs < before.atMs + before.pauseMs) return false;
    const lately = [...this.#told.values()].filter(({ atMs }) => nowMs < atMs + 60_000);
    if (lately.length >= MOST_PER_MINUTE) return false;
    this.#told.delete(runId);
    this.#told.set(runId, { atMs: nowMs, pauseMs: before ? before.pauseMs * PAUSE_GROWS : FIRST_PAUSE_MS });
    const [oldest = ''] = this.#told.keys();
    if (this.#told.size > MOST_KNOWN) this.#told.delete(oldest);
    return true;
  }
}
