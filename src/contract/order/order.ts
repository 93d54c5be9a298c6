import type { Amount } from '../money.js';
import type { ClientInfo } from './request.js';

/** One change of a balance that an order caused; amounts are signed decimal strings. */
export interface BalanceChange {
  currency: string;
  amount_before: Amount;
  amount_change: Amount;
  amount_after: Amount;
  created_at: string;
}

/**
 * The service's order, as create, status, list and callback return it. Amounts are decimal strings; dates are opaque
 * strings (time zone not documented). `status` and `order_type` may hold values this code does not know.
 */
export interface Order {
  order_uuid: string;
  order_type: string;
  user_order_id: string;
  description: string | null;
  expected_amount_from: Amount;
  amount_from: Amount | null;
  currency_from: string;
  network_from: string | null;
  deposit_from_user: string | null;
  wallet_from: string | null;
  wallet_memo_from: string | null;
  expected_amount_to: Amount;
  amount_to: Amount | null;
  strict_withdrawal_amount: boolean;
  currency_to: string;
  network_to: string | null;
  withdraw_to_user: string | null;
  wallet_to: string | null;
  wallet_memo_to: string | null;
  wallet_to_details: unknown;
  wallet_to_transactions: unknown;
  amount_from_fee: Amount | null;
  amount_to_fee: Amount | null;
  deposit_url: string | null;
  deposit_address: string | null;
  deposit_memo: string | null;
  deposit_address_title: string | null;
  deposit_address_initial_order_uuid: string | null;
  blockchain_deposit_hash: string | null;
  blockchain_withdrawal_hash: string | null;
  exchange_rate_initial: Amount | null;
  exchange_rate_actual: Amount | null;
  client_info?: ClientInfo | null;
  status: string;
  error_code: number | string;
  error_message: string | null;
  created_at: string;
  updated_at: string;
  finalized_at: string | null;
  start_order_at: string | null;
  /** -1 where the service does not say. */
  currency_from_precision: number;
  currency_to_precision: number;
}

/** An item of the order list: the order and the balance changes it caused. */
export interface OrderListItem extends Order {
  balance_changes: BalanceChange[];
}

/** Final statuses of the service; every other value, known or not, means that the order is still under way. */
export const FINAL_STATUSES = ['completed', 'completed_partially', 'canceled', 'error'] as const;

/** A status after which the service changes nothing any more. */
export type FinalStatus = (typeof FINAL_STATUSES)[number];

/** True for the four final statuses. */
export function isFinal(status: string): status is FinalStatus {
  return (FINAL_STATUSES as readonly string[]).includes(status);
}

/** True for the documented statuses; an unknown one is tolerated as "not final" and raises attention. */
export function isKnownStatus(status: string): boolean {
  return status === 'new' || status === 'processing' || isFinal(status);
}
