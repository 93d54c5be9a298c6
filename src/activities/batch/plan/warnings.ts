import type { BatchWarning } from '../../../contract/batch/batch.js';
import { maskWallet } from '../../../contract/masking.js';
import { decimal, toAmount } from '../../../contract/money.js';
import { targetOf, type WithdrawRequest } from '../../../contract/order/request.js';
import { canonicalWallet } from '../../../contract/wallets.js';
import { digestOf } from '../rows/reading.js';
import { areOneId, isOfSpreadsheet, type SheetKey, sheetForms, sheetKeys } from './spreadsheet-ids.js';

const MAX_WARNINGS = 50;
const MAX_LINES = 20;

/** Warnings for the approver. Lines with the same reason become one warning. */
export class BatchWarnings {
  readonly #first: BatchWarning[] = [];
  readonly #shown = new Map<string, BatchWarning>();
  /** Keys beyond the shown ones, so that each counts once. */
  readonly #others = new Set<string>();
  /** First line of each key that may repeat. */
  readonly #seen = new Map<string, number>();
  /** First line of each date or number that a spreadsheet reads an id as. */
  readonly #read = new Map<string, SheetKey & { line: number }>();

  /** Adds a warning about the whole batch, shown before all others. */
  addFirst(reason: string, lines: readonly number[] = []): void {
    this.#first.push({ rows: lines.slice(0, MAX_LINES), reason });
  }

  /** Adds a line to the warning `key`. A new warning starts with the line `first`. */
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

  /** Adds a line if a spreadsheet may have made its id of an earlier one, or the reverse. */
  addIfOneId(keys: readonly SheetKey[], reason: string, line: number): void {
    const earlier = keys.flatMap((one) => this.#read.get(one.key) ?? []);
    const same = earlier.find((one) => keys.some((key) => areOneId(one, key)));
    for (const one of keys) if (!this.#read.has(one.key)) this.#read.set(one.key, { ...one, line });
    if (same) this.add(keyOf(['sheet', same.key]), reason, line, same.line);
  }

  get shown(): BatchWarning[] {
    return [...this.#first, ...this.#shown.values()].slice(0, MAX_WARNINGS);
  }

  get count(): number {
    return this.#first.length + this.#shown.size + this.#others.size;
  }
}

const OF_SHEET =
  'these ids read as dates, times or numbers that a spreadsheet wrote: if it changed them, they may be paid already under their first ids. Compare them with their source';
const ONE_ID =
  'a spreadsheet reads these ids as one date, time or number, and each is paid: keep one if they are one payment';

/** Warns of an id in another form, or made by a spreadsheet, and of a repeated payout. */
export function warnOfRepeats(warnings: BatchWarnings, line: number, order: WithdrawRequest): void {
  const sameId = 'these ids differ only by case or leading zeros, and each is paid: keep one if they are one payment';
  warnings.addIfSeen(keyOf(['id', looseForm(order.order_id)]), sameId, line);
  warnings.addIfOneId(sheetKeys(order.order_id), ONE_ID, line);
  if (isOfSpreadsheet(order.order_id)) warnings.add('sheet', OF_SHEET, line);
  const { currency, network } = order;
  // Details other than cards may name one payee in two ways.
  const { wallet_details: details, ...target } = targetOf(order);
  const targets = Array.isArray(details) ? details : [order];
  for (const { wallet, amount: written } of targets) {
    const amount = toAmount(decimal(written));
    const payee = canonicalWallet(Array.isArray(details) ? 'card' : network, wallet);
    const key = keyOf({ ...target, currency, network, wallet: payee, amount });
    // Cards within an order differ, so the other payout is on another line.
    warnings.addIfSeen(key, `${maskWallet(wallet)} gets ${amount} ${currency} more than once`, line);
  }
}

/**
 * 48 bits: a rare collision costs only a warning, and part of a line would keep the line in memory.
 */
const keyOf = (value: unknown): string => digestOf(value).slice(0, 12);

/** Leading zeros of a whole number anywhere in an id. */
const LEADING_ZEROS = /(?<![\d.])0+(?=\d)/g;
/** Additions of a spreadsheet to a number: `.0`, or points between thousands. */
const ADDED = /(?<=\d)\.0+$|(?<=\d)\.(?=\d{3}(?!\d))/g;

/**
 * Returns one form of ids that differ only by case, leading zeros, an added `.0` or thousands
 * points.
 */
export const looseForm = (id: string): string => id.toLowerCase().replace(ADDED, '').replace(LEADING_ZEROS, '');

/** Returns likely other forms of these ids: one or two per id, and those of a spreadsheet. */
export function likelyForms(ids: readonly string[]): string[] {
  const isNumber = (id: string) => /^\d+$/.test(id);
  const width = Math.max(...ids.map((id) => (isNumber(id) ? id.length : 0)));
  const otherCase = (id: string) => (id === id.toLowerCase() ? id.toUpperCase() : id.toLowerCase());
  const forms = ids.flatMap((id) => {
    const bare = id.replace(LEADING_ZEROS, '');
    const plain = isNumber(id) ? [`${id}.0`, bare === id ? id.padStart(width, '0') : bare] : [otherCase(id), bare];
    return [...plain, ...sheetForms(id)];
  });
  const given = new Set(ids);
  return [...new Set(forms)].filter((form) => !given.has(form));
}
