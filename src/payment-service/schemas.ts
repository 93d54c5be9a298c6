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
  dateOrEmpty,
  dateOrNull,
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
 * Answers of the service. Undocumented fields are dropped. Undocumented statuses and types pass, so
 * that a new value hides no order; nullable fields may be missing.
 */

/** An order, as create and status return it. */
export const orderSchema = z.object({
  order_uuid: z.string().regex(ORDER_UUID_FORMAT, 'not an order_uuid'),
  order_type: word,
  // '' if the merchant gave no id, as for receipts on permanent addresses.
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
  created_at: dateOrEmpty,
  updated_at: dateOrEmpty,
  finalized_at: dateOrNull,
  start_order_at: dateOrNull,
  /** -1 if the service does not say. */
  currency_from_precision: precision,
  currency_to_precision: precision,
});

const balanceChange = z.object({
  currency: word,
  amount_before: amount,
  amount_change: amount,
  amount_after: amount,
  created_at: dateOrEmpty,
});

/** Item of the order list. */
export const orderListItemSchema = orderSchema.extend({
  amount_from: figureOrNull,
  amount_to: figureOrNull,
  amount_from_fee: figureOrNull,
  amount_to_fee: figureOrNull,
  balance_changes: list(balanceChange),
});

/** Fields that identify an order and its state. An answer without one of them shows no order. */
const IDENTIFYING: ReadonlySet<PropertyKey | undefined> = new Set([
  ...['order_uuid', 'order_type', 'user_order_id', 'status', 'currency_from', 'currency_to'],
  ...['expected_amount_from', 'expected_amount_to', 'network_from', 'network_to', 'wallet_to', 'wallet_to_details'],
  undefined,
]);

/** Reads an order. Lists unreadable fields in `unreadable`, unless they identify the order. */
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
  /** Currency that deposits are exchanged into; null for plain deposits. */
  currency_to: wordOrNull,
  address_title: textOrEmpty,
  address: word,
  memo: textOrNull,
  callback_url: textOrNull,
  created_at: dateOrEmpty,
  min_amount: amountOrNull,
  max_amount: amountOrNull,
  total_received_amount: amountOrNull,
  total_received_deposits: integerOrNull,
});

/** Rate, limits and fees of a pair. */
export const rateEntry = z.object({
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
  /** 'merchant' or 'client'. Other values are kept. */
  fee_percent_from_payer: wordOrNull,
  fee_percent_to_payer: wordOrNull,
  currency_from_precision: integer,
  currency_to_precision: integer,
});

/** Maximum number of fields that an error names. */
export const MAX_PROBLEMS = 8;

/** Why an entry is unreadable, by field names. `wallet_uuid` is set if it was readable. */
export interface Malformed {
  malformed: string;
  wallet_uuid?: string;
}

/**
 * Returns an entry, or why it is unreadable. A bad entry never hides others or counts as missing.
 */
const orMalformed = <T>(schema: z.ZodType<T>) =>
  z.unknown().transform((value): T | Malformed => {
    const read = schema.safeParse(value);
    if (read.success) return read.data;
    return { malformed: describeFieldErrors(fieldErrors(read.error).slice(0, MAX_PROBLEMS)) };
  });

const pairs = object(z.record(z.string(), orMalformed(rateEntry)).optional()).optional();

/** Rates by order type and pair key. The keys are the service's: use Object.hasOwn. */
export type Rates = Partial<Record<OrderType, Record<string, RateEntry | Malformed>>>;

/** Schema of the rates of all order types. */
export const ratesSchema: z.ZodType<Rates> = z.object(
  Object.fromEntries(ORDER_TYPES.map((type) => [type, pairs])) as Record<OrderType, typeof pairs>,
);

/** One wallet of the merchant. */
export const balanceEntry = z.object({
  currency: word,
  wallet_uuid: word,
  amount,
  overdraft: amount,
  updated_at: dateOrEmpty,
  /** -1 if the service does not say. */
  currency_precision: precision,
});

/** A wallet identifies the account even if its amount is unreadable. */
const balanceOrMalformed = z.unknown().transform((value): Balance | Malformed => {
  const read = orMalformed(balanceEntry).parse(value);
  const wallet = z.object({ wallet_uuid: word }).safeParse(value).data;
  return 'malformed' in read ? { ...read, ...wallet } : read;
});

/** Balances by currency code. */
export const balancesSchema = object(z.record(z.string(), balanceOrMalformed));

/* The contract re-exports these types. */

/** An order as `orderSchema` reads it. */
export type OrderShape = z.infer<typeof orderSchema>;
/** Balance change of an order. Amounts are signed decimal strings. */
export type BalanceChange = z.infer<typeof balanceChange>;
/** Permanent deposit address. `address_title` is '' if it has none. */
export type DepositAddress = z.infer<typeof depositAddressSchema>;
/** Rate, limits and fees of a pair for an order type. null: not applicable, or no maximum. */
export type RateEntry = z.infer<typeof rateEntry>;
/** One wallet of the merchant. `overdraft` is the debt. */
export type Balance = z.infer<typeof balanceEntry>;
