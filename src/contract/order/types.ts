import { searchAttribute } from '../names.js';
import type { Order } from '../service-objects.js';
import type { CreateRequest, CreateRequests, EchoedField, RequestFields } from './request.js';

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

/** Both sides of an order; null for a side without a network. */
type Sides<Of> = Record<'currencyFrom' | 'currencyTo', Of> & Record<'networkFrom' | 'networkTo', Of | null>;

/**
 * Everything that the code knows about an order type. No other code may ask for a type by its name.
 */
interface TypeFacts<Field extends keyof RequestFields = keyof RequestFields> {
  workflow: string;
  /** It waits for a client's deposit; other types begin on the balance. */
  startsWithDeposit: boolean;
  exchanges: boolean;
  paysOut: boolean;
  /**
   * Money moves at the create: an uncertain one needs a long window and is re-sent once at most.
   */
  movesMoneyAtOnce: boolean;
  /** A receipt on a permanent address may make one. */
  mayBeReceived: boolean;
  /** Request fields of its two sides. */
  sides: Sides<Field>;
  /** Request fields and the order fields that show them, without amounts. */
  echoes: readonly (readonly [request: EchoedField & Field, order: keyof Order])[];
}

const CURRENCIES = [
  ['currency_from', 'currency_from'],
  ['currency_to', 'currency_to'],
] as const;
const NETWORK_FROM = ['network_from', 'network_from'] as const;
const NETWORK_TO = ['network_to', 'network_to'] as const;
const PAYOUT = [
  ['wallet', 'wallet_to'],
  ['wallet_memo', 'wallet_memo_to'],
  ['wallet_details', 'wallet_to_details'],
] as const;

/** THE table of order types. */
const TYPES = {
  deposit: {
    workflow: 'deposit',
    startsWithDeposit: true,
    exchanges: false,
    paysOut: false,
    movesMoneyAtOnce: false,
    mayBeReceived: true,
    sides: { currencyFrom: 'currency', networkFrom: 'network', currencyTo: 'currency', networkTo: null },
    echoes: [
      ['currency', 'currency_from'],
      ['network', 'network_from'],
    ],
  },
  deposit_exchange: {
    workflow: 'depositExchange',
    startsWithDeposit: true,
    exchanges: true,
    paysOut: false,
    movesMoneyAtOnce: false,
    mayBeReceived: true,
    sides: { currencyFrom: 'currency_from', networkFrom: 'network_from', currencyTo: 'currency_to', networkTo: null },
    echoes: [...CURRENCIES, NETWORK_FROM],
  },
  deposit_exchange_withdraw: {
    workflow: 'depositExchangeWithdraw',
    startsWithDeposit: true,
    exchanges: true,
    paysOut: true,
    movesMoneyAtOnce: false,
    mayBeReceived: false,
    sides: {
      currencyFrom: 'currency_from',
      networkFrom: 'network_from',
      currencyTo: 'currency_to',
      networkTo: 'network_to',
    },
    echoes: [...CURRENCIES, NETWORK_FROM, NETWORK_TO, ...PAYOUT],
  },
  exchange: {
    workflow: 'exchange',
    startsWithDeposit: false,
    exchanges: true,
    paysOut: false,
    movesMoneyAtOnce: true,
    mayBeReceived: false,
    sides: { currencyFrom: 'currency_from', networkFrom: null, currencyTo: 'currency_to', networkTo: null },
    echoes: CURRENCIES,
  },
  exchange_withdraw: {
    workflow: 'exchangeWithdraw',
    startsWithDeposit: false,
    exchanges: true,
    paysOut: true,
    movesMoneyAtOnce: true,
    mayBeReceived: false,
    sides: { currencyFrom: 'currency_from', networkFrom: null, currencyTo: 'currency_to', networkTo: 'network_to' },
    echoes: [...CURRENCIES, NETWORK_TO, ...PAYOUT],
  },
  withdraw: {
    workflow: 'withdraw',
    startsWithDeposit: false,
    exchanges: false,
    paysOut: true,
    movesMoneyAtOnce: true,
    mayBeReceived: false,
    sides: { currencyFrom: 'currency', networkFrom: null, currencyTo: 'currency', networkTo: 'network' },
    echoes: [['currency', 'currency_to'], ['network', 'network_to'], ...PAYOUT],
  },
} as const satisfies { [T in OrderType]: TypeFacts<Extract<keyof CreateRequests[T], keyof RequestFields>> };

type TypesWith<Fact extends keyof TypeFacts, Is extends boolean> = {
  [T in OrderType]: (typeof TYPES)[T][Fact] extends Is ? T : never;
}[OrderType];

/** Returns what the code knows about an order type. */
export const factsOf = (type: OrderType): TypeFacts => TYPES[type];

/** Returns the workflow type of an order type. */
export const workflowTypeOf = (type: OrderType) => TYPES[type].workflow;

/** Returns true for one of our types; the service may have others. */
export const isOrderType = (type: string): type is OrderType => Object.hasOwn(TYPES, type);

/** Types of follow-ups: those that begin on the balance. */
export const FOLLOW_UP_TYPES = ORDER_TYPES.filter((type): type is FollowUpType => !TYPES[type].startsWithDeposit);

/** One of the types of follow-ups. */
export type FollowUpType = TypesWith<'startsWithDeposit', false>;

/** One of the types of received orders. */
export type ReceivedType = TypesWith<'mayBeReceived', true>;

/** Returns true for types of received orders. */
export const isReceivedType = (type: string): type is ReceivedType => isOrderType(type) && TYPES[type].mayBeReceived;

/** Both sides of an order, as the service names them. */
export type OrderSides = Sides<string>;

/** Returns both sides of a request. `deposit` and `withdraw` have one currency on both. */
export function orderSides(type: OrderType, order: CreateRequest): OrderSides {
  const { currencyFrom, networkFrom, currencyTo, networkTo } = factsOf(type).sides;
  const fields = order as Partial<Record<keyof RequestFields, string>>;
  return {
    currencyFrom: fields[currencyFrom] ?? '',
    networkFrom: (networkFrom && fields[networkFrom]) ?? null,
    currencyTo: fields[currencyTo] ?? '',
    networkTo: (networkTo && fields[networkTo]) ?? null,
  };
}

/** Returns what is exchanged or paid, such as `12.50 usd` or `100 usd → btc`; never a wallet. */
export function whatMoves(type: OrderType, order: CreateRequest): string {
  const { amount, amount_to: amountTo }: RequestFields = order;
  const { currencyFrom: from, currencyTo: to } = orderSides(type, order);
  const source = amount === undefined ? from : `${amount} ${from}`;
  if (from === to && amountTo === undefined) return source;
  return `${source} → ${amountTo === undefined ? to : `${amountTo} ${to}`}`;
}

/** Returns the search attributes of a start, which cost no event there. */
export function startAttributes(type: OrderType, account: string, order: CreateRequest, batchId: string | undefined) {
  const { currencyFrom, currencyTo } = orderSides(type, order);
  return [
    { key: searchAttribute.account, value: account },
    { key: searchAttribute.orderStatus, value: 'open' },
    { key: searchAttribute.currencyFrom, value: currencyFrom },
    { key: searchAttribute.currencyTo, value: currencyTo },
    ...(batchId === undefined ? [] : [{ key: searchAttribute.batchId, value: batchId }]),
  ];
}
