import type { Amount } from '../../contract/money.js';
import type { Remainder, RevertTarget } from '../../contract/order/input-and-result.js';
import {
  type CardPart,
  type CreateRequest,
  type CreateRequests,
  type RequestFields,
  targetOf,
} from '../../contract/order/request.js';
import { type FollowUpType, factsOf, orderSides } from '../../contract/order/types.js';
import type { Case } from './figures.js';

/** One thing a follow-up can do with what an order left: what it takes, and the order type that does it. */
export interface Move {
  action: 'finish' | 'revert';
  /** The remainder it takes; absent for what the order had exchanged, which is no remainder. */
  kind?: Remainder['kind'];
  as: FollowUpType;
  /** Orders it makes sense for, where its row holds others too. */
  suits: (c: Case) => boolean;
}

const always = (): boolean => true;

/** True for orders by `amount_to`: in total they never pay more than that. */
export const isStrict = ({ request }: Case): boolean => 'amount_to' in request && request.amount_to != null;

/** True for payouts to several cards. */
export const paysToCards = ({ request }: Case): boolean =>
  'wallet_details' in request && Array.isArray(request.wallet_details);

/** True for orders that begin with a deposit: what is reverted there goes back to somebody. */
export const startsWithDeposit = ({ type }: Pick<Case, 'type'>): boolean => factsOf(type).startsWithDeposit;

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

/**
 * The way of strict orders: `exchange` F→T of R_F, then PAY of what is missing. One `exchange_withdraw` cannot be safe: by
 * `amount` it may pay more than is missing, and by `amount_to` the service sets both what it takes (perhaps more than
 * R_F) and, at the rate of the moment, what it pays.
 */
export const EXCHANGE_TO_PAY: Move = { action: 'finish', kind: 'unexchanged', as: 'exchange', suits: isStrict };

/** `exchange` T→F of net[T], for orders that end with the exchange; costs the spread. */
export const UNDO_EXCHANGE: Move = { action: 'revert', as: 'exchange', suits: always };

/** `exchange` T→F of R_T, for orders that end with a payout. */
export const EXCHANGE_BACK: Move = { action: 'revert', kind: 'unpaid', as: 'exchange', suits: always };

/** `withdraw` of what is in F to `revertTo`, and nowhere else: never to the wallet that a deposit came from. */
export const REFUND: Move = { action: 'revert', kind: 'unexchanged', as: 'withdraw', suits: startsWithDeposit };

/** An order that goes on where the one it extends stopped. */
export interface FollowUp {
  type: FollowUpType;
  request: CreateRequest;
}

/** What only a person or the order's own input can name: where a refund goes, which cards are still to be paid. */
export interface Named {
  revertTo?: RevertTarget;
  cards?: CardPart[];
}

/** The order of a move over an amount. Throws where a refund has no `revertTo`: callers ask for it first. */
export function followUpOrder(c: Case, move: Move, amount: Amount, orderId: string, named: Named = {}): FollowUp {
  const { order_id: extended, client_info: clientInfo }: RequestFields = c.request;
  const common = {
    order_id: orderId,
    // The extended order's own description is never copied: it may say "full salary" or steer the receiving side.
    description: `Follow-up of ${extended}`,
    ...(clientInfo && { client_info: clientInfo }),
    amount,
  };
  const { currencyFrom, currencyTo, networkTo } = orderSides(c.type, c.request);
  if (move === REFUND)
    return { type: 'withdraw', request: { ...common, currency: currencyFrom, ...refundTarget(named) } };
  if (move === PAY) {
    const target = { network: networkTo ?? '', ...payoutTarget(c, named) };
    return { type: 'withdraw', request: { ...common, currency: currencyTo, ...target } };
  }
  const back = move.action === 'revert';
  const request: CreateRequests['exchange'] = {
    ...common,
    currency_from: back ? currencyTo : currencyFrom,
    currency_to: back ? currencyFrom : currencyTo,
  };
  if (move !== EXCHANGE_AND_PAY) return { type: 'exchange', request };
  return { type: 'exchange_withdraw', request: { ...request, network_to: networkTo ?? '', ...payoutTarget(c, named) } };
}

const payoutTarget = (c: Case, { cards }: Named) => ({
  wallet: '',
  ...targetOf(c.request),
  ...(cards && { wallet_details: cards }),
});

function refundTarget({ revertTo }: Named) {
  if (!revertTo) throw new RangeError('a refund needs revertTo');
  const { network, wallet } = revertTo;
  return { network, wallet, ...targetOf(revertTo) };
}

/** What a person must know before a follow-up pays: each payout costs a commission, and a client's comes out of it. */
export const followUpCosts = ({ payers }: Case, move: Move): string[] =>
  move.as !== 'exchange' && move !== REFUND && payers?.to === 'client'
    ? ['the recipient bears a second commission']
    : [];
