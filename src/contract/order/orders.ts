import type { Amount } from '../money.js';
import type { Basis } from './basis.js';
import type { SentTo } from './sent-to.js';
import type { FinalStatus } from './status.js';

/** The six order types as the service writes them. */
export const ORDER_TYPES = [
  'deposit',
  'deposit_exchange',
  'deposit_exchange_withdraw',
  'exchange',
  'exchange_withdraw',
  'withdraw',
] as const;

/** One of the six order types. */
export type OrderType = (typeof ORDER_TYPES)[number];

/** Types that move money the moment they are created: an uncertain create of these is settled over a long window. */
export const movesMoneyAtOnce = (type: OrderType): boolean =>
  type === 'exchange' || type === 'exchange_withdraw' || type === 'withdraw';

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

/** What is wanted when an order ends partially or in error; omitted = the default column of the table in docs. */
export type CompensationPolicy = 'report' | 'finish' | 'revert' | 'ask';

/** Where a refund may go. Nothing is ever refunded to `wallet_from`. */
export interface RevertTarget {
  network: string;
  wallet: string;
  wallet_memo?: string | null;
  wallet_details?: WalletDetails | null;
}

/** What may be said about an order besides the order itself. */
export interface OrderOptions {
  account?: string;
  compensation?: CompensationPolicy;
  revertTo?: RevertTarget;
  /** 'never': after an uncertain create the order is parked instead of being sent a second time. */
  resend?: 'once' | 'never';
  batchId?: string;
  /** Only in follow-ups, started by their order: what it and those before showed; sent only while that holds. */
  followUpOf?: Basis[];
  /**
   * ISO time until which an earlier run of this order id may have sent; set by a start with `again`. Nothing is sent before
   * absence was read over the settle window since then. Not compared when the order is started once more.
   */
  sentUntil?: string;
  /**
   * The run was rebuilt from the service's order list: it sends nothing, ever, and only follows that order. Needs
   * `compensation: 'report'`; where a payout goes may be missing in `order`. `listed`: the order as the list showed it,
   * which later starts of the id are compared with. `sentTo`: where it was listed.
   */
  recovered?: { order_uuid: string; listed?: Order; sentTo?: SentTo };
  /**
   * What the order that a follow-up extends was sent to, and beside `sentUntil` what the earlier run sent to: this one is
   * sent nowhere else.
   */
  sentTo?: SentTo;
}

/** Input of the six order workflows. */
export interface OrderInput<T extends OrderType = OrderType> extends OrderOptions {
  order: CreateRequests[T];
}

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

/** Part of an order that stayed on the merchant's balance: not exchanged (in currency_from) or not paid out (in currency_to). */
export interface Remainder {
  kind: 'unexchanged' | 'unpaid';
  currency: string;
  amount: Amount;
}

/** Types that a follow-up may have: those that begin on the balance. */
export const FOLLOW_UP_TYPES = ['exchange', 'exchange_withdraw', 'withdraw'] as const;

/** One of the types of follow-ups. */
export type FollowUpType = (typeof FOLLOW_UP_TYPES)[number];

/** What was done about a remainder. `reason` and `order_id` (of the last follow-up) say how. */
export interface CompensationResult {
  policy: CompensationPolicy;
  status: 'none' | 'done' | 'failed' | 'not_possible';
  reason?: string;
  order_id?: string;
  outcome?: FinalStatus;
}

/** Result of an order workflow: resolves for every order that exists at the service. */
export interface OrderResult {
  outcome: FinalStatus;
  order: Order;
  /** True when the order was found at the service instead of being answered to our create. */
  adopted: boolean;
  /** Actual − expected amounts, where they differ. Signed decimal strings. */
  difference?: { from?: Amount; to?: Amount };
  remainder?: Remainder[];
  /** Why the remainder cannot be told. */
  remainderUnknown?: string;
  compensation?: CompensationResult;
  /** Fields of the request that the service shows otherwise: in another form, or named by a person who adopted it. */
  echoDifferences?: string[];
  /** Checks that were skipped, or broken and only told (PAYMENT_FORMAT_CHECKS), when the order was sent. */
  notes?: string[];
  /** Every decision a person made, oldest first. */
  decisions?: DecisionRecord[];
}

/** What a person may decide on a parked order. */
export const DECIDE_ACTIONS = [
  'adopt',
  'resend',
  'close-absent',
  'finish',
  'revert',
  'accept',
  'approve',
  'refuse',
] as const;

/** One of the decide actions. */
export type DecideAction = (typeof DECIDE_ACTIONS)[number];

/**
 * Argument of the `decide` update. `revision` is the one the person saw in `orderState`; a stale one is refused.
 * `differences`: the fields in spite of which an order is adopted, exactly those that differ. `kind`, `as`, `revertTo` and `wallet_details` (the cards of a payout to several) say how to `finish` or `revert`.
 */
export interface Decision {
  action: DecideAction;
  by: string;
  reason: string;
  revision: number;
  order_uuid?: string;
  differences?: string[];
  kind?: Remainder['kind'];
  as?: FollowUpType;
  revertTo?: RevertTarget;
  wallet_details?: WalletDetails;
}

/**
 * A decision as kept in the result. `at` is an ISO time of the workflow's clock; `kind` and `as` are what was chosen, also
 * where there was only one choice; wallets are masked.
 */
export interface DecisionRecord {
  action: DecideAction;
  by: string;
  reason: string;
  revision: number;
  at: string;
  order_uuid?: string;
  differences?: string[];
  kind?: Remainder['kind'];
  as?: FollowUpType;
  revertTo?: { network: string; wallet: string };
  wallet_details?: CardPart[];
}
