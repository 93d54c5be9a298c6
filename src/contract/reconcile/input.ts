import type { FieldError } from '../failures.js';
import { ACCOUNT_FORMAT, DEFAULT_ACCOUNT } from '../ids.js';
import { maskName } from '../masking.js';
import { withoutNulls } from '../without-nulls.js';
import { DEFAULT_OPEN_TOO_LONG_MS, type ReconcileAccountInput } from './reconcile.js';

/**
 * Checks of the input of `reconcile`, without zod: the client and the workflow, which starts from other languages and the
 * UI reach directly, run the same code.
 */

const HOUR_MS = 3_600_000;
/** The clock that is farthest ahead of UTC, which a time without a zone may be of. */
export const AHEAD_OF_UTC_MS = 14 * HOUR_MS;
/** What a run looks back at when nothing else is asked for. */
export const DEFAULT_WINDOW_MS = 72 * HOUR_MS;
/** More than a year at once is a mistyped date. */
const MAX_WINDOW_MS = 366 * 24 * HOUR_MS;
const FIELDS = ['account', 'from', 'to', 'recover', 'openTooLongMs'];

const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(?:\.\d{1,9})?(Z|[+-]\d{2}:\d{2})?$/;

/** Ms since the epoch of an ISO time or `YYYY-MM-DD hh:mm:ss`, UTC where it names no zone; undefined for anything else. */
export function dateTimeMs(text: string): number | undefined {
  const [, day, time, zone = 'Z'] = DATE_TIME.exec(text) ?? [];
  const inUtc = Date.parse(`${day}T${time}Z`);
  // A round trip, because 30 February would roll over into March.
  if (Number.isNaN(inUtc) || new Date(inUtc).toISOString().slice(0, 19) !== `${day}T${time}`) return undefined;
  const ms = Date.parse(`${day}T${time}${zone}`);
  return Number.isNaN(ms) ? undefined : ms;
}

type Fields = Record<string, unknown>;

/** The checked plan of a run that starts now, or every bad field. An absent input asks for the defaults. */
export function planReconcile(
  input: unknown,
  nowMs: number,
): { plan: ReconcileAccountInput } | { errors: FieldError[] } {
  if (input !== undefined && input !== null && (typeof input !== 'object' || Array.isArray(input))) {
    return {
      errors: [{ field: 'input', reason: 'must be an object {account?, from?, to?, recover?, openTooLongMs?}' }],
    };
  }
  const fields: Fields = { ...withoutNulls(input) };
  const errors = fieldErrorsOf(fields);
  if (errors.length > 0) return { errors };
  const toMs = typeof fields.to === 'string' ? (dateTimeMs(fields.to) ?? nowMs) : nowMs;
  // Counted from now where `to` is a date to come: the hours before that date may all lie in the future.
  const defaultFromMs = Math.min(toMs, nowMs) - DEFAULT_WINDOW_MS;
  const fromMs = typeof fields.from === 'string' ? (dateTimeMs(fields.from) ?? 0) : defaultFromMs;
  const window = windowErrors(fromMs, toMs, nowMs);
  if (window.length > 0) return { errors: window };
  const plan = {
    account: (fields.account as string | undefined) ?? DEFAULT_ACCOUNT,
    fromMs,
    toMs,
    untilNow: toMs >= nowMs,
    recover: fields.recover === true,
    openTooLongMs: (fields.openTooLongMs as number | undefined) ?? DEFAULT_OPEN_TOO_LONG_MS,
  };
  return { plan };
}

function fieldErrorsOf({ account, from, to, recover, openTooLongMs, ...others }: Fields): FieldError[] {
  const isDate = (value: unknown) => typeof value === 'string' && dateTimeMs(value) !== undefined;
  const date = 'must be a real date and time, YYYY-MM-DD hh:mm:ss (UTC) or ISO';
  const checks: [string, unknown, (value: unknown) => boolean, string][] = [
    [
      'account',
      account,
      (value) => typeof value === 'string' && ACCOUNT_FORMAT.test(value),
      'must be 1 to 32 of a-z 0-9 -',
    ],
    ['from', from, isDate, date],
    ['to', to, isDate, date],
    ['recover', recover, (value) => typeof value === 'boolean', 'must be true or false'],
    [
      'openTooLongMs',
      openTooLongMs,
      (value) => Number.isSafeInteger(value) && Number(value) >= 1,
      'must be whole milliseconds above 0',
    ],
  ];
  return [
    ...checks.flatMap(([field, value, fits, reason]) =>
      value === undefined || fits(value) ? [] : [{ field, reason }],
    ),
    ...Object.keys(others).map((name) => ({
      field: maskName(name),
      reason: `unknown field; known are ${FIELDS.join(', ')}`,
    })),
  ];
}

function windowErrors(fromMs: number, toMs: number, nowMs: number): FieldError[] {
  // Nothing is there yet, and nothing found would pass for agreement. A local time east of UTC, taken for UTC, is no mistake.
  if (fromMs > nowMs + AHEAD_OF_UTC_MS) return [{ field: 'from', reason: 'must not lie in the future' }];
  if (fromMs >= toMs) return [{ field: 'from', reason: 'must be before to (now when omitted)' }];
  return toMs - fromMs > MAX_WINDOW_MS ? [{ field: 'from', reason: 'must be at most 366 days before to' }] : [];
}
