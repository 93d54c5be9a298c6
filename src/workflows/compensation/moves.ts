import type { Remainder } from '../../contract/order/result.js';
import type { FollowUpType } from '../../contract/order/types.js';
import { paysOut } from '../../contract/order/types.js';
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
export const startsWithDeposit = ({ type }: Pick<Case, 'type'>): boolean => type.startsWith('deposit');

/** `withdraw` of R_T to the order's wallet. */
export const PAY: Move = { action: 'finish', kind: 'unpaid', as: 'withdraw', suits: always };

/** `exchange` F→T of R_F, for orders that end with the exchange. */
export const EXCHANGE: Move = {
  action: 'finish',
  kind: 'unexchanged',
  as: 'exchange',
  suits: ({ type }) => !paysOut(type),
};

/** `exchange_withdraw` of R_F to the order's wallet. */
export const EXCHANGE_AND_PAY: Move = {
  action: 'finish',
  kind: 'unexchanged',
  as: 'exchange_withdraw',
  suits: (c) => paysOut(c.type) && !isStrict(c),
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
