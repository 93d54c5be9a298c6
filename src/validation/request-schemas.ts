import { isIP } from 'node:net';
import * as z from 'zod';
import { MAX_AMOUNT_LENGTH } from '../contract/money.js';
import { holdsWallet, NO_WALLET } from '../contract/wallets.js';
import { amountProblem } from './amounts.js';
import { walletProblem } from './wallet-formats.js';

/** Format of currency codes, without long digit runs, so that a misplaced wallet is refused. */
export const CURRENCY_FORMAT = /^(?!.*\d{6})[a-z0-9]{2,16}$/;
/** Format of network codes, also without long digit runs. */
export const NETWORK_FORMAT = /^(?!.*\d{6})[a-z0-9][a-z0-9_.-]{0,31}$/;

export const MAX_DESCRIPTION_LENGTH = 255;
const MAX_DELAY_MINUTES = 43_200;
const MAX_TEXT_LENGTH = 255;
// RFC 5321: longer addresses cannot be delivered to.
const MAX_EMAIL_LENGTH = 254;
const MAX_MEMO_LENGTH = 1024;
const EMAIL_FORMAT = /^[^\s@<>()[\]\\,;:"\p{C}]+@[^\s@<>()[\]\\,;:"\p{C}]+\.[^\s@<>()[\]\\,;:"\p{C}]+$/u;

/** Returns a schema of strings without a problem, with one reason per field. */
function checkedString(problem: (value: string) => string | undefined, text = z.string()) {
  return text.superRefine((value, context) => {
    const message = problem(value);
    if (message) context.addIssue({ code: 'custom', message });
  });
}

function lineProblem(value: string, maxLength: number): string | undefined {
  if (value.length > maxLength) return `longer than ${maxLength} characters`;
  return /[\p{Cc}\p{Zl}\p{Zp}]/u.test(value) ? 'contains control characters' : undefined;
}

/* The metadata repeats the checks as JSON Schema, in patterns that every language can read. */
export const CONTROL = { pattern: '[\u0000-\u001f\u007f-\u009f\u2028\u2029]' };
const line = (maxLength: number) =>
  checkedString((value) => lineProblem(value, maxLength)).meta({ maxLength, not: CONTROL });

const amountSchema = checkedString(amountProblem, z.string({ error: (issue) => amountProblem(issue.input) })).meta({
  maxLength: MAX_AMOUNT_LENGTH,
  pattern: String.raw`^(0\.[0-9]*[1-9][0-9]*|[1-9][0-9]*(\.[0-9]+)?)$`,
});

export const nameSchema = checkedString((value) =>
  value.trim() === '' ? 'required' : lineProblem(value, MAX_TEXT_LENGTH),
).meta({ maxLength: MAX_TEXT_LENGTH, pattern: String.raw`\S`, not: CONTROL });

/** Returns a schema of names that workflow ids, search attributes and logs show. */
export const shownName = (format: RegExp, expected: string) =>
  z
    .string()
    .regex(format, expected)
    .refine((name) => !holdsWallet(name), NO_WALLET);

// The format cannot break out of a header.
const emailSchema = checkedString((value) =>
  value.length > MAX_EMAIL_LENGTH || !EMAIL_FORMAT.test(value) ? 'not an e-mail address' : undefined,
).meta({
  maxLength: MAX_EMAIL_LENGTH,
  pattern: EMAIL_FORMAT.source.replaceAll(String.raw`\p{C}`, '').replaceAll('()[', String.raw`()\[`),
  not: CONTROL,
});

const NO_LONG_NUMBER = { pattern: '[0-9]{6}' };
export const currencySchema = z
  .string()
  .regex(CURRENCY_FORMAT, 'must be a lowercase currency code, like "usd"')
  .meta({ pattern: '^[a-z0-9]{2,16}$', not: NO_LONG_NUMBER });
export const networkSchema = z
  .string()
  .regex(NETWORK_FORMAT, 'must be a lowercase network code, like "card"')
  .meta({ pattern: '^[a-z0-9][a-z0-9_.-]{0,31}$', not: NO_LONG_NUMBER });
export const descriptionSchema = line(MAX_DESCRIPTION_LENGTH).nullish();
const memoSchema = line(MAX_MEMO_LENGTH).nullish();
const delayProblem = `must be whole minutes, 0 to ${MAX_DELAY_MINUTES}`;
const delaySchema = z.int(delayProblem).min(0, delayProblem).max(MAX_DELAY_MINUTES, delayProblem).optional();

export const clientInfoSchema = z
  .strictObject({
    client_id: line(MAX_TEXT_LENGTH).optional(),
    client_ip: checkedString((value) => (isIP(value) === 0 ? 'not an IP address' : undefined))
      .meta({ anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] })
      .optional(),
    client_email: emailSchema.optional(),
  })
  .nullish();

/* Shapes of requests. `contract/order/request.ts` must say of each field how it is shown and compared. */

export const cardPartSchema = z.strictObject({
  amount: amountSchema,
  wallet: checkedString((value) => walletProblem('card', value)).meta({ pattern: '^[1-9][0-9]{11,18}$' }),
});

/**
 * Shapes of `wallet_details` by network. `multiple_cards` takes a list; other networks take none.
 */
export const detailsSchemas = {
  bank: z.strictObject({ bank_code: nameSchema }),
  bank_ua: z.strictObject({
    recipient_bank: nameSchema,
    recipient_name: nameSchema,
    // 8 digits for companies, 10 for persons, 9 for persons with only an identity card.
    taxpayer_number: z.string().regex(/^\d{8,10}$/, 'must be 8 to 10 digits'),
  }),
  sepa: z.strictObject({ recipient_email: emailSchema, recipient_name: nameSchema }),
};

const common = { order_id: z.string(), description: descriptionSchema, client_info: clientInfoSchema };
export const payoutSchemas = {
  // payout-target checks wallet and details, because they depend on the network.
  wallet: z.string(),
  wallet_memo: memoSchema,
  wallet_details: z.custom<DetailsShape | CardPart[]>().nullish(),
};
const single = { currency: currencySchema, network: networkSchema, amount: amountSchema };
const eitherAmount = { amount: amountSchema.optional(), amount_to: amountSchema.optional() };

/** Strict create requests by type, without `callback_url`, which the worker adds. */
export const orderSchemas = {
  deposit: z.strictObject({ ...common, ...single }),
  deposit_exchange: z.strictObject({
    ...common,
    currency_from: currencySchema,
    network_from: networkSchema,
    amount: amountSchema,
    currency_to: currencySchema,
  }),
  deposit_exchange_withdraw: z.strictObject({
    ...common,
    ...payoutSchemas,
    ...eitherAmount,
    currency_from: currencySchema,
    network_from: networkSchema,
    currency_to: currencySchema,
    network_to: networkSchema,
  }),
  exchange: z.strictObject({
    ...common,
    currency_from: currencySchema,
    currency_to: currencySchema,
    amount: amountSchema,
  }),
  exchange_withdraw: z.strictObject({
    ...common,
    ...payoutSchemas,
    ...eitherAmount,
    currency_from: currencySchema,
    currency_to: currencySchema,
    network_to: networkSchema,
    delay_order_for_minutes: delaySchema,
  }),
  withdraw: z.strictObject({ ...common, ...payoutSchemas, ...single, delay_order_for_minutes: delaySchema }),
};

export type RequestShapes = { [T in keyof typeof orderSchemas]: z.infer<(typeof orderSchemas)[T]> };
export type DetailsShape = z.infer<(typeof detailsSchemas)[keyof typeof detailsSchemas]>;
export type CardPart = z.infer<typeof cardPartSchema>;
export type ClientInfo = NonNullable<z.infer<typeof clientInfoSchema>>;
export type PayoutShape = { [Name in keyof typeof payoutSchemas]: z.infer<(typeof payoutSchemas)[Name]> };
