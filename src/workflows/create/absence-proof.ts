/** When absence is read, as parts of the settle window: the early readings find what is there, the last proves absence. */
const READING_TIMES = [0, 0.05, 0.2, 0.5, 1];

/** Fewest readings in a row that prove absence, however long they took. */
const MIN_READINGS = 3;

/** Longest wait because of a worker whose clock is behind that of another one. */
const LONGEST_WORKER_WAIT_MS = 15 * 60_000;

/** One moment on both clocks, in ms since the epoch. */
export interface Moment {
  serverMs: number;
  workerMs: number;
}

/** One reading without our order: asked and answered by the clock of the server, read by that of its worker. */
export interface AbsentReading {
  askedAtMs: number;
  answeredAtMs: number;
  readAtMs: number;
}

/** What one clock says: from when on readings count, and since when the order is absent. */
interface Clock {
  countFromMs: number;
  sinceMs?: number | undefined;
}

/**
 * The proof that no order of ours exists: at least three readings in a row over the whole window, by two clocks. A workflow
 * lives by the server's alone, and one that is set forward would make a few quick readings pass for a long window; the
 * workers that read have clocks of their own. Pure: it knows what it is told.
 */
export class AbsenceProof {
  #readings = 0;
  readonly #server: Clock;
  readonly #worker: Clock;

  /**
   * `countAfterMs`: so long an attempt may be under way, and readings do not count. `sinceMs`: when the window began, if
   * before this proof.
   */
  constructor(begin: Moment, countAfterMs: number, sinceMs?: number) {
    this.#server = { countFromMs: begin.serverMs + countAfterMs, sinceMs };
    this.#worker = { countFromMs: begin.workerMs + countAfterMs, sinceMs };
  }

  /** Takes a reading; true when absence is proven with it. */
  isProvenBy({ askedAtMs, answeredAtMs, readAtMs }: AbsentReading, windowMs: number): boolean {
    if (askedAtMs < this.#server.countFromMs || readAtMs < this.#worker.countFromMs) return false;
    this.#readings += 1;
    this.#server.sinceMs ??= answeredAtMs;
    this.#worker.sinceMs ??= readAtMs;
    const spanned = askedAtMs - this.#server.sinceMs >= windowMs && readAtMs - this.#worker.sinceMs >= windowMs;
    return this.#readings >= MIN_READINGS && spanned;
  }

  /** Time until the next reading: when both clocks want one. */
  nextReadingInMs({ serverMs, workerMs }: Moment, windowMs: number): number {
    const byWorker = untilNextMs(this.#worker, workerMs, windowMs);
    return Math.max(untilNextMs(this.#server, serverMs, windowMs), Math.min(byWorker, LONGEST_WORKER_WAIT_MS));
  }
}

function untilNextMs({ countFromMs, sinceMs = countFromMs }: Clock, nowMs: number, windowMs: number): number {
  const times = READING_TIMES.map((part) => sinceMs + part * windowMs);
  return (times.find((timeMs) => timeMs > nowMs) ?? nowMs + 0.05 * windowMs) - nowMs;
}
