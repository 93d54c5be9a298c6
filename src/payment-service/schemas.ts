import { z } from 'zod';
import { describeFieldErrors } from '../contract/failures.js';
import { ORDER_UUID_FORMAT } from '../contract/names.js';
import { ORDER_TYPES, type OrderType } from '../contract/order/types.js';
import { fieldErrors } from '../validation/field-errors.js';
import {
  amount,
  amountOrNull,
  anything,
  clientInfo,
  EMPTY_FIGURE,
  errorCode,
  figureOrNull,
  flag,
  integer,
  integerOrNull,
  list,
  object,
  precision,
  textOrEmpty,
  textOrNull,
  word,
  wordOrNull,
} from './wire.js';

/**
 * Answers of the service. Undocumented fields are dropped; undocumented statuses and types pass,
 * since a new value must not hide an order. Nullable fields may also be missing.
 */

/** An order, as create and status answer it. */
export const orderSchema = z.object({
  order_uuid: z.string().regex(ORDER_UUID_FORMAT, 'not an order_uuid'),
  order_type: word,
  // '' where the merchant named nothing: receipts on permanent addresses, as far as is known.
  user_order_id: textOrEmpty,
  description: textOrNull,
  expected_amount_from: amount,
  amount_from: amountOrNull,
  currency_from: word,
  network_from: wordOrNull,
  deposit_from_user: textOrNull,
  wallet_from: textOrNull,
  wallet_memo_from: textOrNull,
  expected_amount_to: amount,
  amount_to: amountOrNull,
  strict_withdrawal_amount: flag,
  currency_to: word,
  network_to: wordOrNull,
  withdraw_to_user: textOrNull,
  wallet_to: textOrNull,
  wallet_memo_to: textOrNull,
  wallet_to_details: anything,
  wallet_to_transactions: anything,
  amount_from_fee: amountOrNull,
  amount_to_fee: amountOrNull,
  deposit_url: textOrNull,
  deposit_address: wordOrNull,
  deposit_memo: textOrNull,
  deposit_address_title: textOrNull,
  deposit_address_initial_order_uuid: textOrNull,
  blockchain_deposit_hash: wordOrNull,
  blockchain_withdrawal_hash: wordOrNull,
  exchange_rate_initial: amountOrNull,
  exchange_rate_actual: amountOrNull,
  client_info: clientInfo,
  status: word,
  error_code: errorCode,
  error_message: textOrNull,
  created_at: textOrEmpty,
  updated_at: textOrEmpty,
  finalized_at: wordOrNull,
  start_order_at: wordOrNull,
  /** -1 where the service does not say. */
  currency_from_precision: precision,
  currency_to_precision: precision,
});

const balanceChange = z.object({
  currency: word,
  amount_before: amount,
  amount_change: amount,
  amount_after: amount,
  created_at: textOrEmpty,
});

/** An item of the order list. */
export const orderListItemSchema = orderSchema.extend({
  amount_from: figureOrNull,
  amount_to: figureOrNull,
  amount_from_fee: figureOrNull,
  amount_to_fee: figureOrNull,
  balance_changes: list(balanceChange),
});

/** Fields that say which order it is and how it goes; without one of them an answer shows no order. */
const IDENTIFYING: ReadonlySet<PropertyKey | undefined> = new Set([
  ...['order_uuid', 'order_type', 'user_order_id', 'status', 'currency_from', 'currency_to'],
  ...['expected_amount_from', 'expected_amount_to', 'network_from', 'network_to', 'wallet_to', 'wallet_to_details'],
  undefined,
]);

/** Reads an order. A field that cannot be read is named in `unreadable`, unless it identifies it. */
export function safeReadOrder<T extends object>(schema: z.ZodType<T>, value: unknown): z.ZodSafeParseResult<T> {
  const read = schema.safeParse(value);
  if (read.success || read.error.issues.some(({ path }) => IDENTIFYING.has(path[0]))) return read;
  const fieldsWith = (isEmpty: boolean) => [
    ...new Set(
      read.error.issues.flatMap(({ path, message }) => ((message === EMPTY_FIGURE) === isEmpty ? String(path[0]) : [])),
    ),
  ];
  const [empty, unreadable] = [fieldsWith(true), fieldsWith(false)];
  const left = Object.entries(value as object).filter(([field]) => ![...empty, ...unreadable].includes(field));
  const readable = schema.safeParse(Object.fromEntries(left));
  if (!readable.success) return read;
  const named = { ...(unreadable.length > 0 && { unreadable }), ...(empty.length > 0 && { empty }) };
  return { ...readable, data: { ...readable.data, ...named } };
}

/** A permanent deposit address. */
export const depositAddressSchema = z.object({
  uuid: word,
  client_id: textOrNull,
  currency: word,
  network: word,
  /** Currency the deposit is exchanged into; null: receipts create plain deposits. */
  currency_to: wordOrNull,
  address_title: textOrEmpty,
  address: word,
  memo: textOrNull,
  callback_url: textOrNull,
  created_at: textOrEmpty,
  min_amount: amountOrNull,
  max_amount: amountOrNull,
  total_received_amount: amountOrNull,
  total_received_deposits: integerOrNull,
});

const rateEntry = z.object({
  order_type: word,
  currency_from: word,
  network_from: wordOrNull,
  currency_to: word,
  network_to: wordOrNull,
  exchange_rate: amountOrNull,
  min_amount_from: amount,
  max_amount_from: amountOrNull,
  fixed_fee_amount_from: amountOrNull,
  fixed_fee_amount_to: amountOrNull,
  fee_percent_from: amountOrNull,
  fee_percent_to: amountOrNull,
  min_fee_amount_from: amountOrNull,
  min_fee_amount_to: amountOrNull,
  /** 'merchant' or 'client'; other values are kept as they came. */
  fee_percent_from_payer: wordOrNull,
  fee_percent_to_payer: wordOrNull,
  currency_from_precision: integer,
  currency_to_precision: integer,
});

/** Fields named per error, or in the place of an entry that cannot be read; the first few tell what is wrong. */
export const MAX_PROBLEMS = 8;

/** Why an entry could not be read, by names of fields, never values; `wallet_uuid` where that much was read. */
export interface Malformed {
  malformed: string;
  wallet_uuid?: string;
}

/** An entry, or in its place why it cannot be read: one bad entry costs none of the others, and is not taken for missing. */
const orMalformed = <T>(schema: z.ZodType<T>) =>
  z.unknown().transform((value): T | Malformed => {
    const read = schema.safeParse(value);
    if (read.success) return read.data;
    return { malformed: describeFieldErrors(fieldErrors(read.error).slice(0, MAX_PROBLEMS)) };
  });

const pairs = object(z.record(z.string(), orMalformed(rateEntry)).optional()).optional();

/** Rates by order type, then by pair key; keys come from the service, so that Object.hasOwn must look one up. */
export type Rates = Partial<Record<OrderType, Record<string, RateEntry | Malformed>>>;

/** Rates of every order type. */
export const ratesSchema: z.ZodType<Rates> = z.object(
  Object.fromEntries(ORDER_TYPES.map((type) => [type, pairs])) as Record<OrderType, typeof pairs>,
);

const balance = z.object({
  currency: word,
  wallet_uuid: word,
  amount,
  overdraft: amount,
  updated_at: textOrEmpty,
  /** -1 where the service does not say. */
  currency_precision: precision,
});

/** A wallet tells which account it is even where its amount cannot be read. */
const balanceOrMalformed = z.unknown().transform((value): Balance | Malformed => {
  const read = orMalformed(balance).parse(value);
  const wallet = z.object({ wallet_uuid: word }).safeParse(value).data;
  return 'malformed' in read ? { ...read, ...wallet } : read;
});

/** Balances by currency code. */
export const balancesSchema = object(z.record(z.string(), balanceOrMalformed));

/* The contract gives these types to everybody else. */

/** An order as `orderSchema` reads it. */
export type OrderShape = z.infer<typeof orderSchema>;
/** One change of a balance that an order caused; amounts are signed decimal strings. */
export type BalanceChange = z.infer<typeof balanceChange>;
/** A permanent deposit address. `address_title` is '' when it has none; dates are opaque strings. */
export type DepositAddress = z.infer<typeof depositAddressSchema>;
/** Rate, limits and fees of one pair for one order type; null where the field does not apply (a null maximum: none). */
export type RateEntry = z.infer<typeof rateEntry>;
/** One wallet of the merchant. `overdraft` is the debt. */
export type Balance = z.infer<typeof balance>;
