import type { BatchWarning } from '../../../contract/batch/batch.js';
import { maskWallet } from '../../../contract/masking.js';
import { decimal, toAmount } from '../../../contract/money.js';
import { targetOf, type WithdrawRequest } from '../../../contract/order/request.js';
import { canonicalWallet } from '../../../contract/wallets.js';
import { digestOf } from '../rows/reading.js';

const MAX_WARNINGS = 50;
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

/** Warns of an id that an earlier row has in another form, and of a repeated payout. */
export function warnOfRepeats(warnings: BatchWarnings, line: number, order: WithdrawRequest): void {
  const sameId = 'these ids differ only by case or leading zeros, and each is paid: keep one if they are one payment';
  warnings.addIfSeen(keyOf(['id', looseForm(order.order_id)]), sameId, line);
  const { currency, network } = order;
  // Other details than cards may name one payee in two ways.
  const { wallet_details: details, ...target } = targetOf(order);
  const targets = Array.isArray(details) ? details : [order];
  for (const { wallet, amount: written } of targets) {
    const amount = toAmount(decimal(written));
    const payee = canonicalWallet(Array.isArray(details) ? 'card' : network, wallet);
    const key = keyOf({ ...target, currency, network, wallet: payee, amount });
    // Cards of one order may not repeat, so the other payout is always another line.
    warnings.addIfSeen(key, `${maskWallet(wallet)} gets ${amount} ${currency} more than once`, line);
  }
}

/** 48 bits: a rare mistake costs only a warning, and a part of a line would keep the line. */
const keyOf = (value: unknown): string => digestOf(value).slice(0, 12);

/** Zeros in front of a whole number, wherever it stands in an id. */
const LEADING_ZEROS = /(?<![\d.])0+(?=\d)/g;
/** What a spreadsheet adds to a number, or puts between its thousands. */
const ADDED = /(?<=\d)\.0+$|(?<=\d)\.(?=\d{3}(?!\d))/g;

/** Returns the one form of ids that differ only by case, leading zeros, an added `.0` or a point between thousands. */
export const looseForm = (id: string): string => id.toLowerCase().replace(ADDED, '').replace(LEADING_ZEROS, '');

/**
 * Returns the forms under which earlier orders of these ids most likely exist, without the ids:
 * one for an id, and a second one only where zeros may have been lost.
 */
export function likelyForms(ids: readonly string[]): string[] {
  const isNumber = (id: string) => /^\d+$/.test(id);
  const width = Math.max(...ids.map((id) => (isNumber(id) ? id.length : 0)));
  const otherCase = (id: string) => (id === id.toLowerCase() ? id.toUpperCase() : id.toLowerCase());
  const forms = ids.flatMap((id) => {
    const bare = id.replace(LEADING_ZEROS, '');
    return isNumber(id) ? [`${id}.0`, bare === id ? id.padStart(width, '0') : bare] : [otherCase(id), bare];
  });
  const given = new Set(ids);
  return [...new Set(forms)].filter((form) => !given.has(form));
}
