import Big from 'big.js';
import { type Amount, decimal, decimalOrZero } from '../../contract/money.js';
import type { Remainder, RevertTarget } from '../../contract/order/input-and-result.js';
import {
  type CardPart,
  type CreateRequest,
  type CreateRequests,
  type RequestFields,
  targetOf,
} from '../../contract/order/request.js';
import { type FollowUpType, factsOf, orderSides } from '../../contract/order/types.js';
import { type Case, type Figures, increases, netChange, startsWithDeposit } from './figures.js';

/** Use of a remainder, and the order type of its follow-up. */
export interface Move {
  action: 'finish' | 'revert';
  /** The remainder it takes; absent for what the order has exchanged. */
  kind?: Remainder['kind'];
  as: FollowUpType;
  suits: (c: Case) => boolean;
}

const always = (): boolean => true;

/** Returns true for orders by `amount_to`: they never pay more than that in total. */
export const isStrict = ({ request }: Case): boolean => 'amount_to' in request && request.amount_to != null;

export const paysToCards = ({ request }: Case): boolean =>
  'wallet_details' in request && Array.isArray(request.wallet_details);

/** `withdraw` of R_T to the order's wallet. */
export const PAY: Move = { action: 'finish', kind: 'unpaid', as: 'withdraw', suits: always };

/** `exchange` F→T of R_F, for orders that end with the exchange. */
export const EXCHANGE: Move = {
  action: 'finish',
  kind: 'unexchanged',
  as: 'exchange',
  suits: ({ type }) => !factsOf(type).paysOut,
};

/** `exchange_withdraw` of R_F to the order's wallet. */
export const EXCHANGE_AND_PAY: Move = {
  action: 'finish',
  kind: 'unexchanged',
  as: 'exchange_withdraw',
  suits: (c) => factsOf(c.type).paysOut && !isStrict(c),
};

/** For strict orders, then PAY: `exchange_withdraw` may pay too much, or take more than R_F. */
export const EXCHANGE_TO_PAY: Move = { action: 'finish', kind: 'unexchanged', as: 'exchange', suits: isStrict };
/** `exchange` T→F of net[T], for orders that end with the exchange. Costs the spread. */
export const UNDO_EXCHANGE: Move = { action: 'revert', as: 'exchange', suits: always };
/** `exchange` T→F of R_T, for orders that end with a payout. */
export const EXCHANGE_BACK: Move = { action: 'revert', kind: 'unpaid', as: 'exchange', suits: always };
/** `withdraw` of what is in F to `revertTo`, never to the wallet that a deposit came from. */
export const REFUND: Move = { action: 'revert', kind: 'unexchanged', as: 'withdraw', suits: startsWithDeposit };

export interface FollowUp {
  type: FollowUpType;
  request: CreateRequest;
}

/** Data that an operator or the input names: a refund's target, cards to pay. */
export interface Named {
  revertTo?: RevertTarget;
  cards?: CardPart[];
}

/** Returns the order of a move over an amount. Throws for a refund without `revertTo`. */
export function followUpOrder(c: Case, move: Move, amount: Amount, orderId: string, named: Named = {}): FollowUp {
  const { order_id: extended, client_info: clientInfo }: RequestFields = c.request;
  const common = {
    order_id: orderId,
    // Never the order's own description, which may say "full salary".
    description: `Follow-up of ${extended}`,
    ...(clientInfo && { client_info: clientInfo }),
    amount,
  };
  const { currencyFrom, currencyTo, networkTo } = orderSides(c.type, c.request);
  const payout = () => ({ wallet: '', ...targetOf(c.request), ...(named.cards && { wallet_details: named.cards }) });
  if (move.as === 'withdraw') {
    const isRefund = move === REFUND;
    const target = isRefund ? refundTarget(named) : { network: networkTo ?? '', ...payout() };
    return { type: 'withdraw', request: { ...common, currency: isRefund ? currencyFrom : currencyTo, ...target } };
  }
  const back = move.action === 'revert';
  const request: CreateRequests['exchange'] = {
    ...common,
    currency_from: back ? currencyTo : currencyFrom,
    currency_to: back ? currencyFrom : currencyTo,
  };
  if (move.as === 'exchange') return { type: 'exchange', request };
  return { type: 'exchange_withdraw', request: { ...request, network_to: networkTo ?? '', ...payout() } };
}

function refundTarget({ revertTo }: Named) {
  if (!revertTo) throw new RangeError('a refund needs revertTo');
  return { network: revertTo.network, wallet: revertTo.wallet, ...targetOf(revertTo) };
}

/** Returns the warning that a client pays a second commission. */
export const followUpCosts = ({ payers }: Case, move: Move): string[] =>
  move.as !== 'exchange' && move !== REFUND && payers?.to === 'client'
    ? ['the recipient bears a second commission']
    : [];

/** Remaining funds. All moves together take no more of a currency than was left or brought. */
export interface Funds {
  /** R_F, less what follow-ups took. */
  unexchanged: Big;
  /** R_T, less what follow-ups took, plus what they exchanged for it. */
  unpaid: Big;
  /** In T: exchanged by an order that ends with the exchange. */
  exchanged: Big;
  /** In F: exchanged back from a deposit. */
  returned: Big;
  /** In T: paid to the order's wallet. */
  paid: Big;
  /** In F: refunded. */
  refunded: Big;
}

const ZERO = new Big(0);
const positive = (value: Big | undefined): Big => (value?.gt(0) ? value : ZERO);
const smaller = (a: Big, b: Big): Big => (a.lt(b) ? a : b);

/** Returns what an order left, before any follow-up. */
export function openFunds(c: Case, left: Figures): Funds {
  return {
    unexchanged: positive(left.unexchanged),
    unpaid: positive(left.unpaid),
    exchanged: factsOf(c.type).paysOut ? ZERO : positive(netChange(c, 'to')),
    returned: ZERO,
    paid: factsOf(c.type).paysOut ? decimalOrZero(c.order.amount_to) : ZERO,
    refunded: ZERO,
  };
}

/** Returns what may be paid: never more than an exact payout still misses. */
export function payable(c: Case, { unpaid, paid }: Funds): Big {
  const { amount_to: exact }: RequestFields = c.request;
  return isStrict(c) ? positive(smaller(unpaid, decimal(exact ?? '0').minus(paid))) : unpaid;
}

/** Never more than the deposit brought, even if exchanging back gains. */
function refundable(c: Case, { unexchanged, returned, refunded }: Funds): Big {
  if (!startsWithDeposit(c)) return ZERO;
  return positive(smaller(unexchanged.plus(returned), increases(c, 'from').minus(refunded)));
}

export function takes(c: Case, funds: Funds, move: Move): Big {
  if (!move.suits(c)) return ZERO;
  if (move === REFUND) return refundable(c, funds);
  if (move === UNDO_EXCHANGE) return funds.exchanged;
  if (move === EXCHANGE_BACK) return funds.unpaid;
  return move.kind === 'unpaid' ? payable(c, funds) : funds.unexchanged;
}

export interface Ended {
  move: Move;
  amount: Amount;
  case: Case;
  left: Figures;
}

export function afterFollowUp(c: Case, funds: Funds, { move, amount, case: followUp, left }: Ended): Funds {
  const rest = positive(move.as === 'withdraw' ? left.unpaid : left.unexchanged);
  const taken = decimal(amount).minus(rest);
  const gained = netChange(followUp, 'to');
  if (move === REFUND) return afterRefund(funds, taken);
  // The table refunds no more than R_F, so this stays with the merchant.
  if (move === UNDO_EXCHANGE) return { ...funds, exchanged: funds.exchanged.minus(taken) };
  if (move === EXCHANGE_BACK) {
    const returned = startsWithDeposit(c) ? funds.returned.plus(gained) : funds.returned;
    return { ...funds, unpaid: funds.unpaid.minus(taken), returned };
  }
  const paid = factsOf(followUp.type).paysOut ? funds.paid.plus(decimalOrZero(followUp.order.amount_to)) : funds.paid;
  if (move.kind === 'unpaid') return { ...funds, unpaid: funds.unpaid.minus(taken), paid };
  const brought = move === EXCHANGE_TO_PAY ? gained : positive(left.unpaid);
  return { ...funds, unexchanged: funds.unexchanged.minus(taken), unpaid: funds.unpaid.plus(brought), paid };
}

function afterRefund(funds: Funds, taken: Big): Funds {
  const ofReturned = positive(taken.minus(funds.unexchanged));
  return {
    ...funds,
    unexchanged: funds.unexchanged.minus(taken).plus(ofReturned),
    returned: funds.returned.minus(ofReturned),
    refunded: funds.refunded.plus(taken),
  };
}
