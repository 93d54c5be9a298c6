import type { BatchWarning } from '../../../contract/batch/batch.js';

const MAX_WARNINGS = 50;
/** Lines named by one warning. */
const MAX_LINES = 20;

/** Warnings that an approver sees: lines with the same reason become one warning. */
export class BatchWarnings {
  readonly #first: BatchWarning[] = [];
  readonly #shown = new Map<string, BatchWarning>();
  /** Keys beyond those shown, so that each counts once. */
  readonly #others = new Set<string>();
  /** The first line of each key that may come again. */
  readonly #seen = new Map<string, number>();

  /** Adds a warning about the whole batch, which is shown before those about single payouts. */
  addFirst(reason: string, lines: readonly number[] = []): void {
    this.#first.push({ rows: lines.slice(0, MAX_LINES), reason });
  }

  /** Adds a line to the warning `key`; a new warning begins with the line `first`. */
  add(key: string, reason: string, line: number, first?: number): void {
    const known = this.#shown.get(key);
    if (known) known.rows = [...known.rows, line].slice(0, MAX_LINES);
    else if (this.#shown.size >= MAX_WARNINGS) this.#others.add(key);
    else this.#shown.set(key, { rows: first === undefined ? [line] : [first, line], reason });
  }

  /** Adds a line to the warning `key` if an earlier line had the same key. */
  addIfSeen(key: string, reason: string, line: number): void {
    const first = this.#seen.get(key);
    if (first === undefined) this.#seen.set(key, line);
    else this.add(key, reason, line, first);
  }

  get shown(): BatchWarning[] {
    return [...this.#first, ...this.#shown.values()].slice(0, MAX_WARNINGS);
  }

  get count(): number {
    return this.#first.length + this.#shown.size + this.#others.size;
  }
}
