import type { z } from 'zod';
import type { FieldError } from '../contract/failures.js';
import { givenTwiceIn } from '../contract/json.js';
import { maskName } from '../contract/masking.js';
import { withoutNulls } from '../contract/without-nulls.js';

/** Effects of our own rules (wallet formats, details, pairs): refuse, or warn and send. */
export const FORMAT_CHECKS = ['refuse', 'warn'] as const;

export type FormatChecks = (typeof FORMAT_CHECKS)[number];

/** Finding of a check. `rule`: 'format' is our own rule; 'note' is shown and never refused. */
export interface Remark extends FieldError {
  rule?: 'format' | 'note';
}

export const ofFormat = (found: readonly FieldError[]): Remark[] =>
  found.map((error) => ({ rule: 'format', ...error }));

/** Returns true for a remark that refuses nothing. */
export const isNote = ({ rule }: Remark, checks: FormatChecks): boolean =>
  rule === 'note' || (rule === 'format' && checks === 'warn');

/** Maximum length of an unknown field's name in an error. */
const MAX_KEY_LENGTH = 64;

const GIVEN_TWICE = 'is given twice with different values, and nobody knows which one is meant: leave one of them out';
type Issue = z.core.$ZodIssue;

/**
 * Returns every bad field of a zod error, such as `order.wallet_details[3].amount`, with a reason without the value.
 * A schema must not put a value into its messages.
 */
export function fieldErrors(error: z.ZodError, prefix = ''): FieldError[] {
  return error.issues.flatMap((issue) => {
    const path = pathOf(prefix, issue.path);
    if (issue.code !== 'unrecognized_keys') return [{ field: path || 'input', reason: reasonOf(issue) }];
    return issue.keys.map((key) => {
      const twice = givenTwiceIn(key);
      return { field: pathOf(path, [twice ?? key]), reason: twice === undefined ? 'unknown field' : GIVEN_TWICE };
    });
  });
}

function pathOf(prefix: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>((parent, key) => {
    if (typeof key === 'number') return `${parent}[${key}]`;
    return parent ? `${parent}.${shownKey(String(key))}` : shownKey(String(key));
  }, prefix);
}

/** Callers choose keys, and one may be a card number. The mask comes first: it sees no number behind `?`. */
const shownKey = (key: string): string =>
  (/^[A-Za-z_]+$/.test(key) ? key : maskName(key)).slice(0, MAX_KEY_LENGTH).replace(/[^\x20-\x7e]/g, '?');

function reasonOf(issue: Issue): string {
  // zod tells a missing field from a wrong one only in its message.
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) return 'required';
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message;
  if (issue.code === 'invalid_union' && issue.message === 'Invalid input') return 'fits none of the allowed shapes';
  return issue.message.replace(/^Invalid input: /, '');
}

/** Returns the parsed input, or every bad field, masked. Treats null as absent; never throws. */
export function checkedBy<S extends z.ZodType>(
  schema: S,
  input: unknown,
): { input: z.output<S> } | { errors: FieldError[] } {
  const parsed = schema.safeParse(withoutNulls(input));
  return parsed.success ? { input: parsed.data } : { errors: presentable(fieldErrors(parsed.error)) };
}

/** Maximum number of errors, two per card of the largest order. Histories contain failures. */
const MAX_ERRORS = 200;

/** Returns errors for display: one per field, with masked names, and a limited number. */
export function presentable(found: readonly FieldError[]): FieldError[] {
  const reasons = new Map<string, string>();
  for (const { field, reason } of found) {
    const callback = field === 'order.callback_url' || field === 'callback_url';
    const shown = maskName(field);
    if (!reasons.has(shown)) reasons.set(shown, callback ? 'the worker makes the callback URL; leave it out' : reason);
  }
  const errors = [...reasons].map(([field, reason]) => ({ field, reason }));
  if (errors.length <= MAX_ERRORS) return errors;
  return [...errors.slice(0, MAX_ERRORS), { field: 'input', reason: `and ${errors.length - MAX_ERRORS} more` }];
}
