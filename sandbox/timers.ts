/** Longest delay a timer of the platform can hold. */
const LONGEST_MS = 2 ** 31 - 1;

/** Timers for points in time, however far away, that can all be stopped at once. */
export class Timers {
  readonly #running = new Set<NodeJS.Timeout>();
  #stopped = false;

  /** Runs the task at a time (ms since the epoch), at once when that is past. */
  at(timeMs: number, task: () => void): void {
    if (this.#stopped) return;
    const leftMs = Math.max(0, timeMs - Date.now());
    const timer = setTimeout(
      () => {
        this.#running.delete(timer);
        if (leftMs > LONGEST_MS) this.at(timeMs, task);
        else task();
      },
      Math.min(leftMs, LONGEST_MS),
    );
    this.#running.add(timer);
  }

  /** Stops all timers for good. */
  stop(): void {
    this.#stopped = true;
    for (const timer of this.#running) clearTimeout(timer);
    this.#running.clear();
  }
}
