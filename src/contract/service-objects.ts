import type { BalanceShape, RateEntryShape } from '../payment-service/schemas.js';
import type { FORMAT_CHECKS_READ } from '../validation/remarks.js';
import type { OrderType } from './order/types.js';

/** Why an entry could not be read, by names of fields, never values; `wallet_uuid` where that much was read. */
export interface Malformed {
  malformed: string;
  wallet_uuid?: string;
}

/** True for an entry that could not be read. */
export const isMalformed = (entry: object): entry is Malformed => 'malformed' in entry;

/** Rate, limits and fees of one pair for one order type; null where the field does not apply (a null maximum: none). */
export type RateEntry = RateEntryShape;

/** Rates by order type, then by pair key; keys come from the service, so that Object.hasOwn must look one up. */
export type Rates = Partial<Record<OrderType, Record<string, RateEntry | Malformed>>>;

/** One wallet of the merchant. `overdraft` is the debt. */
export type Balance = BalanceShape;

/** Wallets of the merchant by currency code. */
export type Balances = Record<string, Balance | Malformed>;

/** What the two lists of the service are asked for, with its own field names. */
export type { AddressListQuery, OrderListQuery } from '../payment-service/queries.js';

/** Signed reads that starters and operators, who hold no secret, ask a worker for. */
export const READS = ['rates', 'balances', 'orderStatus', 'orderList', 'addressList'] as const;

/**
 * Input of the `serviceRead` workflow; `query` is the operation's request body, of rates `{order_type?, pair?}`. Its result
 * is the response's `data`, where `{malformed: reason}` stands in the place of a row or entry that cannot be read.
 */
export interface ServiceReadInput {
  account?: string;
  /** Besides the service's operations: what PAYMENT_FORMAT_CHECKS is for the account, asked of its workers alone. */
  read: (typeof READS)[number] | typeof FORMAT_CHECKS_READ;
  query?: Record<string, unknown>;
}
