import type { FieldError } from '../failures.js';
import { maskName } from '../masking.js';
import { ACCOUNT_FORMAT, DEFAULT_ACCOUNT } from '../names.js';
import { holdsWallet } from '../wallets.js';
import { withoutNulls } from '../without-nulls.js';
import { DEFAULT_OPEN_TOO_LONG_MS, type ReconcileInput } from './reconcile.js';

/** Checks without zod, because the workflow runs them as well: starts from the UI reach it directly. */

/** A span of time in ms since the epoch; its end does not belong to it. */
export interface Span {
  fromMs: number;
  toMs: number;
}

/** A checked input; times in ms since the epoch. */
export interface ReconcileTask extends Required<Omit<ReconcileInput, 'from' | 'to'>>, Span {
  /** False: `toMs` is a date in the past, so that the balances of now cannot be compared with. */
  untilNow: boolean;
}

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** The clock that is farthest ahead of UTC, which a time without a zone may be of. */
export const AHEAD_OF_UTC_MS = 14 * HOUR_MS;
/** How far dates and date filters may lie apart: their undocumented zones are 12 h behind UTC to 14 h ahead. */
export const ZONE_SLACK_MS = 26 * HOUR_MS;
/** Default length of the window. */
export const DEFAULT_WINDOW_MS = 72 * HOUR_MS;
/** More than a year at once is a mistyped date. */
const MAX_WINDOW_MS = 366 * DAY_MS;

const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(?:\.\d{1,9})?(Z|[+-]\d{2}:\d{2})?$/;
/** Forms in which services write dates, of this century: earlier ones are placeholders. */
const SERVICE_DATE = /^(20\d{2}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?$/;

/** Ms since the epoch of an ISO time or `YYYY-MM-DD hh:mm:ss`, UTC where it names no zone; undefined for anything else. */
export function dateTimeMs(text: string): number | undefined {
  const [, day, time, zone = 'Z'] = DATE_TIME.exec(text) ?? [];
  const inUtc = Date.parse(`${day}T${time}Z`);
  // A round trip, because 30 February would roll over into March.
  if (Number.isNaN(inUtc) || new Date(inUtc).toISOString().slice(0, 19) !== `${day}T${time}`) return undefined;
  const ms = Date.parse(`${day}T${time}${zone}`);
  return Number.isNaN(ms) ? undefined : ms;
}

/**
 * Returns a date of the service as its clock shows it, `YYYY-MM-DD hh:mm:ss`; undefined for other
 * forms and for placeholders such as 0000-00-00 or 1970-01-01. A named zone is not applied.
 */
export function serviceDate(text: string): string | undefined {
  const [, day, time] = SERVICE_DATE.exec(text) ?? [];
  const face = `${day} ${time}`;
  return dateTimeMs(face) === undefined ? undefined : face;
}

/** Returns a time in the service's format. UTC is assumed, because its zone is undocumented. */
export const serviceTime = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

const DATE = 'must be a real date and time, YYYY-MM-DD hh:mm:ss (UTC) or ISO';
const isDate = (value: unknown): boolean => typeof value === 'string' && dateTimeMs(value) !== undefined;
const isAccount = (value: unknown): boolean =>
  typeof value === 'string' && ACCOUNT_FORMAT.test(value) && !holdsWallet(value);
const isDuration = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 1;

/** Check of each field. Other fields are refused. */
const CHECKS: Record<keyof ReconcileInput, [fits: (value: unknown) => boolean, otherwise: string]> = {
  account: [isAccount, 'must be 1 to 32 of a-z 0-9 -, and must not hold a card number or IBAN'],
  from: [isDate, DATE],
  to: [isDate, DATE],
  recover: [(value) => typeof value === 'boolean', 'must be true or false'],
  openTooLongMs: [isDuration, 'must be whole milliseconds above 0'],
};

/** The input of a run that starts now, its defaults filled in, or every bad field. An absent input asks for the defaults. */
export function checkedReconcileInput(
  input: unknown,
  nowMs: number,
): { input: ReconcileTask } | { errors: FieldError[] } {
  if (input !== undefined && input !== null && (typeof input !== 'object' || Array.isArray(input))) {
    return {
      errors: [{ field: 'input', reason: 'must be an object {account?, from?, to?, recover?, openTooLongMs?}' }],
    };
  }
  const given = { ...withoutNulls(input) };
  const errors = fieldErrorsOf(given);
  if (errors.length > 0) return { errors };
  const { account = DEFAULT_ACCOUNT, from, to, recover = false, openTooLongMs } = given as ReconcileInput;
  const toMs = to === undefined ? nowMs : (dateTimeMs(to) ?? nowMs);
  // Counted from now where `to` is a date to come: the hours before that date may all lie in the future.
  const fromMs = from === undefined ? Math.min(toMs, nowMs) - DEFAULT_WINDOW_MS : (dateTimeMs(from) ?? 0);
  const window = windowErrors(fromMs, toMs, nowMs);
  if (window.length > 0) return { errors: window };
  const untilNow = toMs >= nowMs;
  return {
    input: { account, fromMs, toMs, untilNow, recover, openTooLongMs: openTooLongMs ?? DEFAULT_OPEN_TOO_LONG_MS },
  };
}

function fieldErrorsOf(given: Record<string, unknown>): FieldError[] {
  const bad = Object.entries(CHECKS).flatMap(([field, [fits, reason]]) =>
    given[field] === undefined || fits(given[field]) ? [] : [{ field, reason }],
  );
  const known = Object.keys(CHECKS);
  const others = Object.keys(given).filter((name) => !known.includes(name));
  const reason = `unknown field; known are ${known.join(', ')}`;
  return [...bad, ...others.map((name) => ({ field: maskName(name), reason }))];
}

function windowErrors(fromMs: number, toMs: number, nowMs: number): FieldError[] {
  // Nothing is there yet, and nothing found would pass for agreement. A local time east of UTC, taken for UTC, is no mistake.
  if (fromMs > nowMs + AHEAD_OF_UTC_MS) return [{ field: 'from', reason: 'must not lie in the future' }];
  if (fromMs >= toMs) return [{ field: 'from', reason: 'must be before to (now when omitted)' }];
  return toMs - fromMs > MAX_WINDOW_MS ? [{ field: 'from', reason: 'must be at most 366 days before to' }] : [];
}
