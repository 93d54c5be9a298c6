import { z } from 'zod';
import { ORDER_UUID_FORMAT } from '../contract/ids.js';
import { SIGNED_AMOUNT_FORMAT } from '../contract/money.js';
import type { Order, OrderListItem } from '../contract/orders.js';
import type { Balance, DepositAddress, RateEntry, Rates } from '../contract/service-objects.js';
import { toInteger, toPlain } from './wire.js';

/**
 * What the service answers. Fields that are not documented are dropped; statuses and types that are not documented
 * pass, because a new value must not make an existing order invisible. Nullable fields may also be missing.
 */

const text = z.string();
const word = z.string().min(1);
const amount = z.string().regex(SIGNED_AMOUNT_FORMAT, 'not a decimal string');
const integer = z.preprocess(toInteger, z.int());

const orNull = <T extends z.ZodType>(type: T) => type.nullish().transform((value) => value ?? null);
const textOrNull = orNull(text);
const amountOrNull = orNull(amount);

const opaque = z
  .unknown()
  .optional()
  .transform((value, context) => {
    try {
      return toPlain(value ?? null);
    } catch {
      context.addIssue({ code: 'custom', message: 'nested too deep' });
      return z.NEVER;
    }
  });

/** Null and absent are the same. An empty list is how some services write an empty object; an order must not hang on it. */
const clientInfo = z
  .union([
    z.object({ client_id: text.nullish(), client_ip: text.nullish(), client_email: text.nullish() }),
    z.array(z.unknown()).max(0),
  ])
  .nullish()
  .transform((info) => {
    if (!info || Array.isArray(info)) return null;
    return Object.fromEntries(Object.entries(info).filter(([, value]) => typeof value === 'string'));
  });

const orderObject = z.object({
  order_uuid: z.string().regex(ORDER_UUID_FORMAT, 'not an order_uuid'),
  order_type: word,
  // '' where the merchant named nothing: receipts on permanent addresses, as far as is known.
  user_order_id: text,
  description: textOrNull,
  expected_amount_from: amount,
  amount_from: amountOrNull,
  currency_from: word,
  network_from: textOrNull,
  deposit_from_user: textOrNull,
  wallet_from: textOrNull,
  wallet_memo_from: textOrNull,
  expected_amount_to: amount,
  amount_to: amountOrNull,
  strict_withdrawal_amount: z
    .boolean()
    .nullish()
    .transform((strict) => strict ?? false),
  currency_to: word,
  network_to: textOrNull,
  withdraw_to_user: textOrNull,
  wallet_to: textOrNull,
  wallet_memo_to: textOrNull,
  wallet_to_details: opaque,
  wallet_to_transactions: opaque,
  amount_from_fee: amountOrNull,
  amount_to_fee: amountOrNull,
  deposit_url: textOrNull,
  deposit_address: textOrNull,
  deposit_memo: textOrNull,
  deposit_address_title: textOrNull,
  deposit_address_initial_order_uuid: textOrNull,
  blockchain_deposit_hash: textOrNull,
  blockchain_withdrawal_hash: textOrNull,
  exchange_rate_initial: amountOrNull,
  exchange_rate_actual: amountOrNull,
  client_info: clientInfo,
  status: word,
  error_code: z
    .union([integer, text])
    .nullish()
    .transform((code) => code ?? 0),
  error_message: textOrNull,
  created_at: text.default(''),
  updated_at: text.default(''),
  finalized_at: textOrNull,
  start_order_at: textOrNull,
  currency_from_precision: integer,
  currency_to_precision: integer,
});

const balanceChange = z.object({
  currency: word,
  amount_before: amount,
  amount_change: amount,
  amount_after: amount,
  created_at: text,
});

/** An order, as create and status answer it. */
export const orderSchema: z.ZodType<Order> = orderObject;

/** An item of the order list. */
export const orderListItemSchema: z.ZodType<OrderListItem> = orderObject.extend({
  balance_changes: z
    .array(balanceChange)
    .nullish()
    .transform((changes) => changes ?? []),
});

/** A permanent deposit address. */
export const depositAddressSchema: z.ZodType<DepositAddress> = z.object({
  uuid: word,
  client_id: textOrNull,
  currency: word,
  network: word,
  currency_to: textOrNull,
  address_title: text.nullish().transform((title) => title ?? ''),
  address: word,
  memo: textOrNull,
  callback_url: textOrNull,
  created_at: text.default(''),
  min_amount: amount,
  max_amount: amount,
  total_received_amount: amountOrNull,
  total_received_deposits: orNull(integer),
});

const rateEntry: z.ZodType<RateEntry> = z.object({
  order_type: word,
  currency_from: word,
  network_from: textOrNull,
  currency_to: word,
  network_to: textOrNull,
  exchange_rate: amountOrNull,
  min_amount_from: amount,
  max_amount_from: amountOrNull,
  fixed_fee_amount_from: amountOrNull,
  fixed_fee_amount_to: amountOrNull,
  fee_percent_from: amountOrNull,
  fee_percent_to: amountOrNull,
  min_fee_amount_from: amountOrNull,
  min_fee_amount_to: amountOrNull,
  fee_percent_from_payer: textOrNull,
  fee_percent_to_payer: textOrNull,
  currency_from_precision: integer,
  currency_to_precision: integer,
});

const pairs = z.record(z.string(), rateEntry).optional();

/** Rates of the six order types. One bad entry spoils all: a pair that is silently gone would read as "not offered". */
export const ratesSchema: z.ZodType<Rates> = z.object({
  deposit: pairs,
  deposit_exchange: pairs,
  deposit_exchange_withdraw: pairs,
  exchange: pairs,
  exchange_withdraw: pairs,
  withdraw: pairs,
});

/** Balances by currency code. */
export const balancesSchema: z.ZodType<Record<string, Balance>> = z.record(
  z.string(),
  z.object({
    currency: word,
    wallet_uuid: word,
    amount,
    overdraft: amount,
    updated_at: text.default(''),
    currency_precision: integer,
  }),
);
