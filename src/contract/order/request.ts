import type { Amount } from '../money.js';
import type { OrderType } from './types.js';

/** Data about the merchant's client; all optional strings. */
export interface ClientInfo {
  client_id?: string;
  client_ip?: string;
  client_email?: string;
}

/** One card of a `multiple_cards` payout; `amount` is a decimal string. */
export interface CardPart {
  amount: Amount;
  wallet: string;
}

/** Payout details, by network: bank, bank_ua, sepa (objects) or multiple_cards (array). */
export type WalletDetails =
  | { bank_code: string }
  | { recipient_bank: string; recipient_name: string; taxpayer_number: string }
  | { recipient_email: string; recipient_name: string }
  | CardPart[];

interface CommonRequest {
  order_id: string;
  description?: string | null;
  client_info?: ClientInfo | null;
}

interface PayoutTarget {
  wallet: string;
  wallet_memo?: string | null;
  wallet_details?: WalletDetails | null;
}

/** Create request of a deposit, without `callback_url` (the worker makes it). */
export interface DepositRequest extends CommonRequest {
  currency: string;
  network: string;
  amount: Amount;
}

/** Create request of a deposit with exchange; `amount` is the deposit amount. */
export interface DepositExchangeRequest extends CommonRequest {
  currency_from: string;
  network_from: string;
  amount: Amount;
  currency_to: string;
}

/** What an order with exchange and payout is by: exactly one of `amount` and `amount_to` (payout). */
type EitherAmount = { amount: Amount; amount_to?: undefined } | { amount?: undefined; amount_to: Amount };

/** Create request of a deposit with exchange and payout; exactly one of `amount` (deposit) and `amount_to` (payout). */
export type DepositExchangeWithdrawRequest = CommonRequest &
  PayoutTarget &
  EitherAmount & {
    currency_from: string;
    network_from: string;
    currency_to: string;
    network_to: string;
  };

/** Create request of an exchange; `amount` is in `currency_from`. */
export interface ExchangeRequest extends CommonRequest {
  currency_from: string;
  currency_to: string;
  amount: Amount;
}

/** Create request of an exchange with payout; exactly one of `amount` (in `currency_from`) and `amount_to` (payout). */
export type ExchangeWithdrawRequest = CommonRequest &
  PayoutTarget &
  EitherAmount & {
    currency_from: string;
    currency_to: string;
    network_to: string;
    delay_order_for_minutes?: number;
  };

/** Create request of a payout; `amount` is what is paid out. */
export interface WithdrawRequest extends CommonRequest, PayoutTarget {
  currency: string;
  network: string;
  amount: Amount;
  delay_order_for_minutes?: number;
}

/** Create requests by order type. */
export interface CreateRequests {
  deposit: DepositRequest;
  deposit_exchange: DepositExchangeRequest;
  deposit_exchange_withdraw: DepositExchangeWithdrawRequest;
  exchange: ExchangeRequest;
  exchange_withdraw: ExchangeWithdrawRequest;
  withdraw: WithdrawRequest;
}

/** Any create request. */
export type CreateRequest = CreateRequests[OrderType];

/** Every field a create request may have, seen without its type: lets one function read requests of all six types. */
export interface RequestFields {
  order_id: string;
  description?: string | null;
  client_info?: ClientInfo | null;
  currency?: string;
  network?: string;
  currency_from?: string;
  network_from?: string;
  currency_to?: string;
  network_to?: string;
  amount?: Amount;
  amount_to?: Amount;
  wallet?: string;
  wallet_memo?: string | null;
  wallet_details?: WalletDetails | null;
  delay_order_for_minutes?: number;
}
