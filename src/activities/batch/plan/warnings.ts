import type { BatchWarning } from '../../../contract/batch/batch.js';

const MAX_WARNINGS = 50;
/** Lines named by one warning. */
const MAX_LINES = 20;

/** Collects what a person should see before approving: lines with the same reason become one warning. */
export class BatchWarnings {
  readonly #first: BatchWarning[] = [];
  readonly #shown = new Map<string, BatchWarning>();
  /** Keys beyond those shown, so that each counts once. */
  readonly #others = new Set<string>();

  /** Adds a warning about the whole batch: shown before those about single payouts, however many these are. */
  addFirst(reason: string, lines: readonly number[] = []): void {
    this.#first.push({ rows: lines.slice(0, MAX_LINES), reason });
  }

  /** Adds a line to the warning `key`, which is made where it is new, and then begins with the line `first`. */
  add(key: string, reason: string, line: number, first?: number): void {
    const known = this.#shown.get(key);
    if (known) known.rows = [...known.rows, line].slice(0, MAX_LINES);
    else if (this.#shown.size >= MAX_WARNINGS) this.#others.add(key);
    else this.#shown.set(key, { rows: first === undefined ? [line] : [first, line], reason });
  }

  get shown(): BatchWarning[] {
    return [...this.#first, ...this.#shown.values()].slice(0, MAX_WARNINGS);
  }

  get count(): number {
    return this.#first.length + this.#shown.size + this.#others.size;
  }
}
