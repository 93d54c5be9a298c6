import type { Marker } from './markers.js';
import type { Plan } from './plan.js';
import type { Quote } from './quote.js';
import type { OrderType, Terms } from './rates.js';
import type { AddressBody, CreateBody } from './requests.js';

/** The order object of the interface. */
export interface OrderObject {
  order_uuid: string;
  order_type: string;
  user_order_id: string;
  description: string | null;
  expected_amount_from: string;
  amount_from: string | null;
  currency_from: string;
  network_from: string | null;
  deposit_from_user: string | null;
  wallet_from: string | null;
  wallet_memo_from: string | null;
  expected_amount_to: string;
  amount_to: string | null;
  strict_withdrawal_amount: boolean;
  currency_to: string;
  network_to: string | null;
  withdraw_to_user: string | null;
  wallet_to: string | null;
  wallet_memo_to: string | null;
  wallet_to_details: unknown;
  wallet_to_transactions: unknown;
  amount_from_fee: string | null;
  amount_to_fee: string | null;
  deposit_url: string | null;
  deposit_address: string | null;
  deposit_memo: string | null;
  deposit_address_title: string | null;
  deposit_address_initial_order_uuid: string | null;
  blockchain_deposit_hash: string | null;
  blockchain_withdrawal_hash: string | null;
  exchange_rate_initial: string | null;
  exchange_rate_actual: string | null;
  client_info: Record<string, string | undefined>;
  status: string;
  error_code: number;
  error_message: string;
  created_at: string;
  updated_at: string;
  finalized_at: string | null;
  start_order_at: string | null;
  currency_from_precision: number;
  currency_to_precision: number;
}

/** One change of a merchant balance; amounts are decimal strings, the change is signed. */
export interface BalanceChange {
  currency: string;
  amount_before: string;
  amount_change: string;
  amount_after: string;
  created_at: string;
}

/** An order as the sandbox keeps it. Plain JSON: the journal holds exactly this. Times are ms since the epoch. */
export interface StoredOrder {
  order: OrderObject;
  /** What its marker and its chances go by: the order id; of receipts, whose ids are the service's, their number. */
  key: string;
  /** The permanent address it came in on. */
  addressUuid?: string;
  balanceChanges: BalanceChange[];
  callbackUrl: string | null;
  terms: Terms;
  quote: Quote;
  plan: Plan;
  createdAtMs: number;
  startAtMs: number;
  /** When the simulated client pays; only deposit types use it. */
  payAtMs: number;
  finalAtMs: number;
  /** After it was final its status changed once more. */
  regressed?: true;
  /** What is really left, for tests: unexchanged in currency_from, unpaid in currency_to. */
  truth: { unexchanged: string; unpaid: string };
}

/** The deposit address object of the interface. */
export interface DepositAddress {
  uuid: string;
  client_id: string | null;
  currency: string;
  network: string;
  currency_to: string | null;
  address_title: string;
  address: string;
  memo: string | null;
  callback_url: string | null;
  created_at: string;
  min_amount: string;
  max_amount: string;
  total_received_amount: string | null;
  total_received_deposits: number | null;
}

/** What a create request asks for: an order or a permanent address. */
export type Create = { type: OrderType; body: CreateBody } | { type: 'address'; body: AddressBody };

/** A create that was received, answered with a failure, and is executed only later. */
export type QueuedCreate = Create & { id: string; dueAtMs: number };

/** What was seen about an order or address, whether or not it exists: how faults know the how-manieth request it is. */
export interface Watch {
  marker: Marker;
  creates: number;
  looks: { status: number; list: number };
}
