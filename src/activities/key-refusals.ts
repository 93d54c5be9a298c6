/** Workflows of an account that one worker tells of a refused key within a minute; each of them costs history. */
const MOST_PER_MINUTE = 10;

/** Workflows that are remembered. */
const MOST_KNOWN = 1_000;

/** Workflows of an account that this worker told that the service refuses the key. Their alarm tells the others, after 15 min. */
export class KeyRefusals {
  readonly #toldAtMs = new Map<string, number>();

  /** Returns true, and counts it, if a run may be told, once; `nowMs` of a clock that only runs forward. */
  mayTell(runId: string, nowMs: number): boolean {
    const lately = [...this.#toldAtMs.values()].filter((atMs) => nowMs < atMs + 60_000);
    if (this.#toldAtMs.has(runId) || lately.length >= MOST_PER_MINUTE) return false;
    this.#toldAtMs.set(runId, nowMs);
    const [oldest = ''] = this.#toldAtMs.keys();
    if (this.#toldAtMs.size > MOST_KNOWN) this.#toldAtMs.delete(oldest);
    return true;
  }
}
