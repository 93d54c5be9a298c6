import { maskName, maskWallet } from '../masking.js';
import { type CreateRequest, type EchoedField, REQUEST_FIELDS, type RequestFields } from '../order/request.js';
import { factsOf, ORDER_TYPES, type OrderType, orderSides } from '../order/types.js';
import type { Order } from '../service-objects.js';
import { MULTIPLE_CARDS } from '../wallets.js';
import {
  isBlank,
  isEmpty,
  type Likeness,
  likeAmount,
  likeAmountWithFee,
  likeCode,
  likeDetails,
  likeMemo,
  likeWallet,
  worst,
} from './likeness.js';

/** Fields in which an operator may accept a difference; `order_id` only for a form of it. */
export const ADOPTABLE_DIFFERENCES: readonly string[] = [
  ...new Set(['order_type', ...ORDER_TYPES.flatMap((type) => factsOf(type).echoes.map(([asked]) => asked))]),
  'amount',
  'amount_to',
];

function likeField(type: OrderType, request: RequestFields, field: EchoedField, shown: unknown): Likeness {
  const { networkTo } = orderSides(type, request as CreateRequest);
  const asked = request[field];
  const { echo } = REQUEST_FIELDS[field];
  switch (echo) {
    case 'wallet':
      // A payout to several cards names them in its details. Its shown wallet is undocumented.
      return networkTo === MULTIPLE_CARDS && isEmpty(shown) ? 'form' : likeWallet(networkTo, asked, shown);
    case 'memo':
      return likeMemo(asked, shown);
    case 'details':
      return likeDetails(asked, shown);
    case 'code':
      return likeCode(asked, shown);
  }
}

/**
 * Compares the requested amount with expected amounts, never with actual ones, which may change.
 */
function amountOf(type: OrderType, request: RequestFields, order: Order): readonly [keyof RequestFields, Likeness] {
  const { expected_amount_from: from, expected_amount_to: to, strict_withdrawal_amount: strict } = order;
  if (request.amount_to != null) {
    const like = likeAmount(request.amount_to, to, order.currency_to_precision);
    return ['amount_to', worst(like, strict === true ? 'same' : 'form')];
  }
  const { amount } = request;
  const { startsWithDeposit, exchanges, paysOut } = factsOf(type);
  const isPayout = paysOut && !exchanges;
  const ways = [worst(likeAmount(amount, from, order.currency_from_precision), strict === true ? 'form' : 'same')];
  if (startsWithDeposit) ways.push(likeAmountWithFee(amount, from, order.amount_from_fee));
  // With a fee, it is undocumented which of the two holds a payout's amount.
  if (isPayout) ways.push(likeAmount(amount, to, order.currency_to_precision));
  const told = (['same', 'form'] as const).find((like) => ways.includes(like));
  return ['amount', told ?? worst(ways[0] as Likeness, ...(isPayout ? ways : []))];
}

/**
 * Names of the differing fields of a service order. No values, because they may be wallets.
 */
interface EchoDifferences {
  /** The order is another payment. */
  hard: string[];
  /** The order is this payment in another form: masked, incomplete, rounded or with commission. */
  soft: string[];
}

/**
 * Returns how an order differs from our request. Without a hard difference it is ours. One missing
 * field is soft if all others agree; two are hard.
 */
export function echoDifferences(type: OrderType, request: CreateRequest, order: Order): EchoDifferences {
  const fields: RequestFields = request;
  // Only a recovered run has a payout without a wallet, because it does not know the target.
  const unknownTarget = fields.wallet === undefined;
  const compared = factsOf(type).echoes.filter(([asked]) => !unknownTarget || REQUEST_FIELDS[asked].echo === 'code');
  const found: (readonly [field: string, like: Likeness])[] = [
    ['order_type', order.order_type === type ? 'same' : 'other'],
    ['order_id', order.user_order_id === fields.order_id ? 'same' : 'other'],
    ...compared.map(([asked, answered]) => [asked, likeField(type, fields, asked, order[answered])] as const),
    amountOf(type, fields, order),
  ];
  const isLike = (wanted: Likeness) => found.filter(([, like]) => like === wanted).length;
  const hidden: Likeness = isLike('other') > 0 || isLike('hidden') > 1 ? 'other' : 'form';
  const named = (wanted: Likeness) =>
    found.flatMap(([field, like]) => ((like === 'hidden' ? hidden : like) === wanted ? [field] : []));
  return { hard: named('other'), soft: named('form') };
}

/** Returns a value for people: public ones in full, wallets masked, others as '****'. */
function shown(field: string, value: unknown): string {
  if (isBlank(value)) return 'none';
  // The order's type is not a request field.
  const privacy = field === 'order_type' ? 'public' : REQUEST_FIELDS[field as keyof RequestFields]?.privacy;
  if (privacy === 'public') return maskName(String(value));
  return privacy === 'wallet' ? maskWallet(String(value)) : '****';
}

function shownAmount({ expected_amount_from: from, expected_amount_to: to, ...order }: Order, field: string): string {
  const exact = order.strict_withdrawal_amount ? 'an exact payout of ' : '';
  return field === 'amount_to' || exact ? `${exact}${shown(field, to)}` : shown(field, from);
}

/** Returns differing fields with both values: `wallet (asked for ****1111, shown ****4444)`. */
export function shownDifferences(
  type: OrderType,
  request: CreateRequest,
  order: Order,
  fields: readonly string[],
): string {
  const requested: RequestFields = request;
  const asked = (field: string): unknown => (field === 'order_type' ? type : requested[field as keyof RequestFields]);
  const answered = (field: string): string => {
    if (field === 'amount' || field === 'amount_to') return shownAmount(order, field);
    if (field === 'order_id') return shown(field, order.user_order_id);
    const [, answer = 'order_type' as const] = factsOf(type).echoes.find(([name]) => name === field) ?? [];
    return shown(field, order[answer]);
  };
  return fields
    .map((field) => `${field} (asked for ${shown(field, asked(field))}, shown ${answered(field)})`)
    .join(', ');
}
