/** An attempt may use this much of its 60 s: what is left covers the report to the server. */
const ATTEMPT_MS = 50_000;

/** A send needs this much: HTTP total 20 s and a margin. */
const NEEDED_FOR_SEND_MS = 25_000;

/**
 * The age of one create attempt. A worker that was stopped and goes on later must not send any more: by then the server
 * has given the attempt up and the workflow may be proving that the order is absent. Two clocks, because one stands
 * still while a machine sleeps and the other may be set.
 */
export class AttemptDeadline {
  readonly #startedAt = performance.now();
  readonly #startedAtWall = Date.now();

  /** Milliseconds this attempt may still use; negative when it is over. */
  leftMs(): number {
    const elapsedMs = Math.max(performance.now() - this.#startedAt, Date.now() - this.#startedAtWall);
    return ATTEMPT_MS - elapsedMs;
  }

  /** True while there is time to send and to hear the answer. */
  allowsSend(): boolean {
    return this.leftMs() >= NEEDED_FOR_SEND_MS;
  }
}
