import { maskName, maskText, maskWallet } from '../masking.js';
import {
  type CreateRequest,
  type EchoedField,
  type FieldRule,
  PART_FIELDS,
  REQUEST_FIELDS,
  type RequestFields,
} from '../order/request.js';
import { factsOf, ORDER_TYPES, type OrderType, orderSides } from '../order/types.js';
import type { Order } from '../service-objects.js';
import { isIbanNetwork, MULTIPLE_CARDS } from '../wallets.js';
import {
  child,
  isBlank,
  isEmpty,
  isTree,
  type Likeness,
  likeAmount,
  likeAmountWithFee,
  likeCode,
  likeDetails,
  likeMemo,
  likeTree,
  likeWallet,
  treeOf,
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
    case 'details': {
      const like = likeDetails(asked, shown);
      // Elsewhere the name may be all that tells two payees apart.
      return like === 'name' && !isIbanNetwork(networkTo) ? 'other' : like;
    }
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
 * field is soft if all others agree; a name in other letters, if they are the same.
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
  const isNameAlone = isLike('name') === 0 || isLike('same') === found.length - 1;
  const isOurs = isLike('other') === 0 && isLike('hidden') <= 1 && isNameAlone;
  const unsure: Likeness = isOurs ? 'form' : 'other';
  const named = (wanted: Likeness) =>
    found.flatMap(([field, like]) =>
      (like === 'hidden' || like === 'name' ? unsure : like) === wanted ? [field] : [],
    );
  return { hard: named('other'), soft: named('form') };
}

/** Returns a value for people: public ones in full, others masked. */
function shown({ privacy, text = 'parts' }: Partial<FieldRule>, value: unknown, other: unknown): string {
  if (isBlank(value)) return 'none';
  if (text === 'parts' || isTree(value)) return '****';
  if (privacy === 'public') return maskName(String(value));
  return privacy === 'wallet' ? maskWallet(String(value)) : maskText(String(value), String(other ?? value));
}

const compared = (path: string, rule: FieldRule | undefined, asked: unknown, answered: unknown): string =>
  `${path} (asked for ${shown(rule ?? {}, asked, answered)}, shown ${shown(rule ?? {}, answered, asked)})`;

/** Returns the parts of payout details that differ. */
function comparedParts(path: string, asked: object, answered: object): string[] {
  return [...new Set([...Object.keys(asked), ...Object.keys(answered)])].flatMap((key) => {
    const [mine, theirs] = [child(asked, key), child(answered, key)];
    const part = Array.isArray(asked) ? `${path}[${maskName(key)}]` : `${path}.${maskName(key)}`;
    if (likeTree(mine, theirs, key) === 'same') return [];
    if (isTree(mine) && isTree(theirs)) return comparedParts(part, mine, theirs);
    return compared(part, PART_FIELDS.get(key), mine, theirs);
  });
}

function answeredAs(type: OrderType, order: Order, field: string): unknown {
  const { expected_amount_from: from, expected_amount_to: to, strict_withdrawal_amount: isExact } = order;
  if (field === 'order_id') return order.user_order_id;
  if (field === 'amount' || field === 'amount_to') {
    if (isExact) return `an exact payout of ${isBlank(to) ? 'none' : to}`;
    return field === 'amount' ? from : to;
  }
  const [, answer = 'order_type' as const] = factsOf(type).echoes.find(([name]) => name === field) ?? [];
  return order[answer];
}

/** Maximum shown parts of a field: an order may pay a hundred cards. */
const MAX_PARTS = 5;

/** Returns differing fields with both values: `wallet (asked for ****1111, shown ****4444)`. */
export function shownDifferences(
  type: OrderType,
  request: CreateRequest,
  order: Order,
  fields: readonly string[],
): string {
  const requested: RequestFields = request;
  const found = fields.flatMap((field) => {
    const name = field as keyof RequestFields;
    const [asked, answered] = [field === 'order_type' ? type : requested[name], answeredAs(type, order, field)];
    const tree = treeOf(answered);
    if (!isTree(asked) || !isTree(tree)) {
      // The order's type is not a request field.
      return compared(field, REQUEST_FIELDS[name] ?? REQUEST_FIELDS.network, asked, answered);
    }
    const parts = comparedParts(field, asked, tree);
    const others = parts.length - MAX_PARTS;
    return [...parts.slice(0, MAX_PARTS), ...(others > 0 ? [`and ${others} more in ${field}`] : [])];
  });
  return found.join(', ');
}
