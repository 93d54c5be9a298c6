import type { FieldError } from '../failures.js';
import { ACCOUNT_FORMAT, DEFAULT_ACCOUNT } from '../names.js';
import { AHEAD_OF_UTC_MS, dateTimeMs, type Span } from '../reconcile/input.js';
import { holdsWallet } from '../wallets.js';

/**
 * Selects a book: a `day` (`2026-11-26`), a `month` (`2026-11`), or `from` and `to` (a day or
 * `YYYY-MM-DD hh:mm:ss`; `to` is excluded; without it, all until now). Times are by the service's
 * clock.
 */
export interface BookInput {
  account?: string | undefined;
  day?: string | undefined;
  month?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

/** A checked period. `untilNow`: it ends in the future, so current balances are compared. */
export interface BookPeriod extends Span {
  account: string;
  untilNow: boolean;
}

const MAX_PERIOD_MS = 366 * 86_400_000 + AHEAD_OF_UTC_MS;
const FIELDS: readonly string[] = ['account', 'day', 'month', 'from', 'to'] satisfies (keyof BookInput)[];

/** Returns the start of a day or a time in ms; undefined for anything else. */
const timeMs = (text: string): number | undefined => dateTimeMs(text) ?? dateTimeMs(`${text} 00:00:00`);

/** Returns the first moment of the next month or day. */
function afterMs(fromMs: number, unit: 'month' | 'day'): number {
  const date = new Date(fromMs);
  if (unit === 'month') return date.setUTCMonth(date.getUTCMonth() + 1);
  return date.setUTCDate(date.getUTCDate() + 1);
}

/** Returns the period of an input, or every bad field. */
export function checkedPeriod(given: BookInput, nowMs: number): { input: BookPeriod } | { errors: FieldError[] } {
  const errors: FieldError[] = Object.keys(given).flatMap((field) =>
    FIELDS.includes(field) ? [] : [{ field, reason: `unknown field; known are ${FIELDS.join(', ')}` }],
  );
  const { account = DEFAULT_ACCOUNT, day, month, from, to } = given;
  if (!ACCOUNT_FORMAT.test(account) || holdsWallet(account)) {
    errors.push({ field: 'account', reason: 'must be 1 to 32 of a-z 0-9 -' });
  }
  const ways = [day, month, from].filter((one) => one !== undefined);
  if (ways.length !== 1 || (to !== undefined && from === undefined)) {
    errors.push({ field: 'from', reason: 'exactly one of day, month, and from (with or without to) is needed' });
  }
  const unit = month === undefined ? 'day' : 'month';
  const field = ['day', 'month', 'from'].find((name) => given[name as keyof BookInput] !== undefined) ?? 'from';
  const fromMs = timeMs(month === undefined ? (day ?? from ?? '') : `${month}-01`);
  const isOfUnit = { day: /^\d{4}-\d\d-\d\d$/, month: /^\d{4}-\d\d$/, from: /^\d{4}-/ }[field];
  if (errors.length === 0 && (fromMs === undefined || !isOfUnit?.test(`${given[field as keyof BookInput]}`))) {
    const example = { day: '2026-11-26', month: '2026-11', from: '2026-11-26 or "2026-11-26 10:00:00"' }[field];
    errors.push({ field, reason: `must be a real date, such as ${example}` });
  }
  // The current second belongs to it by every clock: the service writes no parts of seconds.
  const typedToMs = to === undefined ? nowMs + AHEAD_OF_UTC_MS + 1_000 : timeMs(to);
  if (typedToMs === undefined) errors.push({ field: 'to', reason: 'must be a real date or time, written as from' });
  const startMs = fromMs ?? 0;
  const toMs = from === undefined ? afterMs(startMs, unit) : (typedToMs ?? 0);
  if (errors.length === 0) errors.push(...spanErrors(field, { fromMs: startMs, toMs }, nowMs));
  return errors.length > 0 ? { errors } : { input: { account, fromMs: startMs, toMs, untilNow: toMs >= nowMs } };
}

function spanErrors(field: string, { fromMs, toMs }: Span, nowMs: number): FieldError[] {
  if (fromMs > nowMs + AHEAD_OF_UTC_MS) return [{ field, reason: 'must not lie in the future' }];
  if (fromMs >= toMs) return [{ field, reason: 'must be before to' }];
  return toMs - fromMs > MAX_PERIOD_MS ? [{ field, reason: 'must be at most 366 days before to' }] : [];
}
