import type { Amount } from './money.js';
import type { OrderType } from './order/orders.js';

/**
 * Stands in the place of an entry that could not be read, and says why: names of fields, never values. `wallet_uuid`: of a
 * balance, where that much could be read.
 */
export interface Malformed {
  malformed: string;
  wallet_uuid?: string;
}

/** True for an entry that could not be read. */
export const isMalformed = (entry: object): entry is Malformed => 'malformed' in entry;

/** A permanent deposit address. `address_title` is '' when it has none; dates are opaque strings. */
export interface DepositAddress {
  uuid: string;
  client_id: string | null;
  currency: string;
  network: string;
  /** Currency the deposit is exchanged into; null: receipts create plain deposits. */
  currency_to: string | null;
  address_title: string;
  address: string;
  memo: string | null;
  callback_url: string | null;
  created_at: string;
  min_amount: Amount | null;
  max_amount: Amount | null;
  total_received_amount: Amount | null;
  total_received_deposits: number | null;
}

/** Rate, limits and fees of one pair for one order type; null where the field does not apply (a null maximum: none). */
export interface RateEntry {
  order_type: string;
  currency_from: string;
  network_from: string | null;
  currency_to: string;
  network_to: string | null;
  exchange_rate: Amount | null;
  min_amount_from: Amount;
  max_amount_from: Amount | null;
  fixed_fee_amount_from: Amount | null;
  fixed_fee_amount_to: Amount | null;
  fee_percent_from: Amount | null;
  fee_percent_to: Amount | null;
  min_fee_amount_from: Amount | null;
  min_fee_amount_to: Amount | null;
  /** 'merchant' or 'client'; other values are kept as they came. */
  fee_percent_from_payer: string | null;
  fee_percent_to_payer: string | null;
  currency_from_precision: number;
  currency_to_precision: number;
}

/**
 * Rates by order type, then by pair key, such as `usd_card` or `usd_card-btc_bitcoin`. Keys come from the service:
 * look one up with Object.hasOwn.
 */
export type Rates = Partial<Record<OrderType, Record<string, RateEntry | Malformed>>>;

/** One wallet of the merchant. `overdraft` is the debt. */
export interface Balance {
  currency: string;
  wallet_uuid: string;
  amount: Amount;
  overdraft: Amount;
  updated_at: string;
  /** -1 where the service does not say. */
  currency_precision: number;
}

/** Wallets of the merchant by currency code. */
export type Balances = Record<string, Balance | Malformed>;
