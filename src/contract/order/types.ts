import type { CreateRequest, RequestFields } from './request.js';

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

/** The service's order type (wire name) → our workflow type. */
export const WORKFLOW_TYPE_OF_ORDER = {
  deposit: 'deposit',
  deposit_exchange: 'depositExchange',
  deposit_exchange_withdraw: 'depositExchangeWithdraw',
  exchange: 'exchange',
  exchange_withdraw: 'exchangeWithdraw',
  withdraw: 'withdraw',
} as const;

/** The workflow type that runs an order type. */
export const workflowTypeOf = (type: OrderType): string => WORKFLOW_TYPE_OF_ORDER[type];

/** What an order starts from and ends in, as the service's order and rate objects name it; null where a side has no network. */
export interface OrderSides {
  currencyFrom: string;
  networkFrom: string | null;
  currencyTo: string;
  networkTo: string | null;
}

/** True for the types that end in a payout to a wallet. */
export const paysOut = (type: OrderType): boolean =>
  type === 'withdraw' || type === 'exchange_withdraw' || type === 'deposit_exchange_withdraw';

/** The two sides of a create request. `deposit` and `withdraw` have one currency, which stands on both sides. */
export function orderSides(type: OrderType, order: CreateRequest): OrderSides {
  const fields: RequestFields = order;
  const single = fields.currency ?? '';
  if (type === 'deposit') {
    return { currencyFrom: single, networkFrom: fields.network ?? null, currencyTo: single, networkTo: null };
  }
  if (type === 'withdraw') {
    return { currencyFrom: single, networkFrom: null, currencyTo: single, networkTo: fields.network ?? null };
  }
  return {
    currencyFrom: fields.currency_from ?? '',
    networkFrom: fields.network_from ?? null,
    currencyTo: fields.currency_to ?? '',
    networkTo: fields.network_to ?? null,
  };
}

/** Types that a follow-up may have: those that begin on the balance. */
export const FOLLOW_UP_TYPES = ['exchange', 'exchange_withdraw', 'withdraw'] as const;

/** One of the types of follow-ups. */
export type FollowUpType = (typeof FOLLOW_UP_TYPES)[number];

/** Types of orders that a receipt on a permanent address makes: with exchange where the address has a `currency_to`. */
export const RECEIVED_TYPES = ['deposit', 'deposit_exchange'] as const;

/** One of the two types of received orders. */
export type ReceivedType = (typeof RECEIVED_TYPES)[number];

/** True for types that a receipt may have. */
export const isReceivedType = (type: string): type is ReceivedType =>
  (RECEIVED_TYPES as readonly string[]).includes(type);
