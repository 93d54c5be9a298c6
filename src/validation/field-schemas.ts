import { isIP } from 'node:net';
import * as z from 'zod';
import { AMOUNT_FORMAT, decimal, MAX_AMOUNT_LENGTH } from '../contract/money.js';

/** Currency codes as the service writes them; no long digit run, so that a wallet put into the wrong field is refused. */
export const CURRENCY_FORMAT = /^(?!.*\d{6})[a-z0-9]{2,16}$/;
/** Network codes: lowercase; no long digit run either. */
export const NETWORK_FORMAT = /^(?!.*\d{6})[a-z0-9][a-z0-9_.-]{0,31}$/;
/** Longest description, in characters. */
export const MAX_DESCRIPTION_LENGTH = 255;
/** Longest delay of an order, in minutes (30 days); the service documents no bound. */
export const MAX_DELAY_MINUTES = 43_200;

const MAX_TEXT_LENGTH = 255;
// RFC 5321: a longer address cannot be delivered to.
const MAX_EMAIL_LENGTH = 254;
const MAX_MEMO_LENGTH = 1024;
const EMAIL_FORMAT = /^[^\s@<>()[\]\\,;:"\p{C}]+@[^\s@<>()[\]\\,;:"\p{C}]+\.[^\s@<>()[\]\\,;:"\p{C}]+$/u;

/** What is wrong with an amount of a request; undefined = a positive decimal string. Never shows the value. */
export function amountProblem(value: unknown): string | undefined {
  if (value === undefined) return 'required';
  if (typeof value === 'number' || typeof value === 'bigint') return 'amounts are strings, like "10.50"';
  if (typeof value !== 'string') return 'must be a decimal string, like "10.50"';
  if (/^-\d/.test(value)) return 'must be > 0';
  if (!AMOUNT_FORMAT.test(value)) return 'must be a decimal string, like "10.50"';
  if (value.length > MAX_AMOUNT_LENGTH) return `longer than ${MAX_AMOUNT_LENGTH} characters`;
  return decimal(value).gt(0) ? undefined : 'must be > 0';
}

/** A string for which `problem` finds nothing wrong. One reason per field: the first that holds. */
export function checkedString(problem: (value: string) => string | undefined) {
  return z.string().superRefine((value, context) => {
    const message = problem(value);
    if (message) context.addIssue({ code: 'custom', message });
  });
}

function textProblem(value: string, maxLength: number): string | undefined {
  if (value.length > maxLength) return `longer than ${maxLength} characters`;
  return /[\p{Cc}\p{Zl}\p{Zp}]/u.test(value) ? 'contains control characters' : undefined;
}

/** A decimal string > 0. */
export const amountSchema = z.string({ error: (issue) => amountProblem(issue.input) }).superRefine((value, context) => {
  const message = amountProblem(value);
  if (message) context.addIssue({ code: 'custom', message });
});

/** A line of text that must say something. */
export const nameSchema = checkedString((value) =>
  value.trim() === '' ? 'required' : textProblem(value, MAX_TEXT_LENGTH),
);

/** An e-mail address that cannot break out of a header. */
export const emailSchema = checkedString((value) =>
  value.length > MAX_EMAIL_LENGTH || !EMAIL_FORMAT.test(value) ? 'not an e-mail address' : undefined,
);

/** A lowercase currency code. */
export const currencySchema = z.string().regex(CURRENCY_FORMAT, 'must be a lowercase currency code, like "usd"');

/** A lowercase network code. */
export const networkSchema = z.string().regex(NETWORK_FORMAT, 'must be a lowercase network code, like "card"');

/** The order's description. */
export const descriptionSchema = checkedString((value) => textProblem(value, MAX_DESCRIPTION_LENGTH)).nullish();

/** Tag or memo of a payout address. Invisible characters would send the money past its owner. */
export const memoSchema = checkedString((value) =>
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(value) ? 'contains invisible characters' : textProblem(value, MAX_MEMO_LENGTH),
).nullish();

/** Whole minutes until the order is executed. */
export const delaySchema = z
  .int(`must be whole minutes, 0 to ${MAX_DELAY_MINUTES}`)
  .min(0, `must be whole minutes, 0 to ${MAX_DELAY_MINUTES}`)
  .max(MAX_DELAY_MINUTES, `must be whole minutes, 0 to ${MAX_DELAY_MINUTES}`)
  .optional();

/** Data about the merchant's client. */
export const clientInfoSchema = z
  .strictObject({
    client_id: checkedString((value) => textProblem(value, MAX_TEXT_LENGTH)).optional(),
    client_ip: checkedString((value) => (isIP(value) === 0 ? 'not an IP address' : undefined)).optional(),
    client_email: emailSchema.optional(),
  })
  .nullish();
