import { type Amount, decimal, SIGNED_AMOUNT_FORMAT, sum, toAmount } from '../money.js';
import { searchAttribute } from '../names.js';
import type { CreateRequest, CreateRequests, EchoedField, OrderType, RequestFields } from './request.js';

export type { OrderType } from './request.js';

/** Both sides of an order; null for a side without a network. */
type Sides<Of> = Record<'currencyFrom' | 'currencyTo', Of> & Record<'networkFrom' | 'networkTo', Of | null>;

/** Row of an order type: its workflow, and the request fields of both sides. */
type TypeRow<Field> = readonly [
  workflow: string,
  currencyFrom: Field,
  networkFrom: Field | null,
  currencyTo: Field,
  networkTo: Field | null,
];

/** Table of order types. */
const TYPES = {
  deposit: ['deposit', 'currency', 'network', 'currency', null],
  deposit_exchange: ['depositExchange', 'currency_from', 'network_from', 'currency_to', null],
  deposit_exchange_withdraw: ['depositExchangeWithdraw', 'currency_from', 'network_from', 'currency_to', 'network_to'],
  exchange: ['exchange', 'currency_from', null, 'currency_to', null],
  exchange_withdraw: ['exchangeWithdraw', 'currency_from', null, 'currency_to', 'network_to'],
  withdraw: ['withdraw', 'currency', null, 'currency', 'network'],
} as const satisfies { [T in OrderType]: TypeRow<Extract<keyof CreateRequests[T], keyof RequestFields>> };

/** All order types, in the service's words. */
export const ORDER_TYPES = Object.keys(TYPES) as OrderType[];

/** Fields of a payout's target, and the order fields that show them. */
const PAYOUT = [
  ['wallet', 'wallet_to'],
  ['wallet_memo', 'wallet_memo_to'],
  ['wallet_details', 'wallet_to_details'],
] as const;

/** A field of the service's orders that shows one of a request. */
type ShownField = `${'currency' | 'network'}_${'from' | 'to'}` | (typeof PAYOUT)[number][1];

interface TypeFacts {
  sides: Sides<keyof RequestFields>;
  /** It waits for a client's deposit; other types begin on the balance. */
  startsWithDeposit: boolean;
  exchanges: boolean;
  paysOut: boolean;
  /**
   * Money moves at the create: an uncertain one needs a long window and is re-sent by itself once at most.
   */
  movesMoneyAtOnce: boolean;
  /** Request fields and the order fields that show them, without amounts. */
  echoes: (readonly [request: EchoedField, order: ShownField])[];
}

/** A network from is a deposit's, a network to a payout's, and two currencies are exchanged. */
function factsFrom([, currencyFrom, networkFrom, currencyTo, networkTo]: (typeof TYPES)[OrderType]): TypeFacts {
  const startsWithDeposit = networkFrom !== null;
  const exchanges = currencyFrom !== currencyTo;
  const paysOut = networkTo !== null;
  const echoes: TypeFacts['echoes'] = [];
  if (startsWithDeposit || exchanges) echoes.push([currencyFrom, 'currency_from']);
  if (exchanges || paysOut) echoes.push([currencyTo, 'currency_to']);
  if (networkFrom) echoes.push([networkFrom, 'network_from']);
  if (networkTo) echoes.push([networkTo, 'network_to']);
  if (paysOut) echoes.push(...PAYOUT);
  const sides = { currencyFrom, networkFrom, currencyTo, networkTo };
  return { sides, startsWithDeposit, exchanges, paysOut, movesMoneyAtOnce: !startsWithDeposit, echoes };
}

const FACTS = Object.fromEntries(ORDER_TYPES.map((type) => [type, factsFrom(TYPES[type])])) as Record<
  OrderType,
  TypeFacts
>;

export const factsOf = (type: OrderType): TypeFacts => FACTS[type];
export const workflowTypeOf = (type: OrderType) => TYPES[type][0];

/** Returns the order type of a workflow type; undefined for other workflows. */
export const orderTypeOf = (workflowType: string | undefined): OrderType | undefined =>
  ORDER_TYPES.find((type) => workflowTypeOf(type) === workflowType);
export const isOrderType = (type: string): type is OrderType => Object.hasOwn(TYPES, type);

/** One of the types of follow-ups: those that begin on the balance. */
export type FollowUpType = { [T in OrderType]: (typeof TYPES)[T][2] extends null ? T : never }[OrderType];

export const FOLLOW_UP_TYPES = ORDER_TYPES.filter((type): type is FollowUpType => !FACTS[type].startsWithDeposit);

/** Types of the orders that a receipt on a permanent address may make. */
const RECEIVED_TYPES = ['deposit', 'deposit_exchange'] as const;

export type ReceivedType = (typeof RECEIVED_TYPES)[number];
export const isReceivedType = (type: string): type is ReceivedType => RECEIVED_TYPES.some((one) => one === type);
type OrderSides = Sides<string>;

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

/**
 * Returns all amounts that a request names, each in its currency; several cards as one sum. Leaves
 * out malformed amounts, because the request may be unchecked.
 */
export function amountsOf(type: OrderType, order: CreateRequest): { amount: Amount; currency: string }[] {
  const { amount, amount_to: amountTo, wallet_details: details }: RequestFields = order;
  const { currencyFrom, currencyTo } = orderSides(type, order);
  const isAmount = (value: unknown): value is Amount => typeof value === 'string' && SIGNED_AMOUNT_FORMAT.test(value);
  const parts = (Array.isArray(details) ? details : []).map((part) => part?.amount).filter(isAmount);
  const cards = parts.length > 0 ? toAmount(sum(parts.map(decimal))) : undefined;
  return [
    { amount, currency: currencyFrom },
    { amount: amountTo, currency: currencyTo },
    { amount: cards, currency: currencyTo },
  ].flatMap(({ amount: named, currency }) => (isAmount(named) ? [{ amount: named, currency }] : []));
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
export function startAttributes(
  type: OrderType,
  account: string,
  order: CreateRequest,
  { batchId, reference }: { batchId?: string | undefined; reference?: string | undefined },
) {
  const { currencyFrom, currencyTo } = orderSides(type, order);
  return [
    { key: searchAttribute.account, value: account },
    { key: searchAttribute.orderStatus, value: 'open' },
    { key: searchAttribute.currencyFrom, value: currencyFrom },
    { key: searchAttribute.currencyTo, value: currencyTo },
    ...(batchId === undefined ? [] : [{ key: searchAttribute.batchId, value: batchId }]),
    ...(reference === undefined ? [] : [{ key: searchAttribute.reference, value: reference }]),
  ];
}
