import Big from 'big.js';
import { type Amount, decimal, decimalOrZero } from '../../contract/money.js';
import type { RequestFields } from '../../contract/order/request.js';
import { factsOf } from '../../contract/order/types.js';
import { type Case, type Figures, increases, netChange } from './figures.js';
import {
  EXCHANGE_BACK,
  EXCHANGE_TO_PAY,
  isStrict,
  type Move,
  REFUND,
  startsWithDeposit,
  UNDO_EXCHANGE,
} from './moves.js';

/**
 * What an order and its follow-ups have left on the balance, by what may be done with it. Every move takes from here, so
 * that all of them together take no more of a currency than the order left there and follow-ups brought there.
 */
export interface Purse {
  /** R_F, less what follow-ups took of it. */
  unexchanged: Big;
  /** R_T, less what follow-ups took of it, plus what they exchanged in order to pay it. */
  unpaid: Big;
  /** In T: what an order that ends with the exchange has exchanged. */
  exchanged: Big;
  /** In F: what follow-ups exchanged back of a deposit. */
  returned: Big;
  /** In T: what reached the order's wallet. */
  paid: Big;
  /** In F: what was refunded. */
  refunded: Big;
}

const ZERO = new Big(0);
const positive = (value: Big | undefined): Big => (value?.gt(0) ? value : ZERO);
const smaller = (a: Big, b: Big): Big => (a.lt(b) ? a : b);

/** What an order left, before any follow-up. */
export function openPurse(c: Case, left: Figures): Purse {
  return {
    unexchanged: positive(left.unexchanged),
    unpaid: positive(left.unpaid),
    exchanged: factsOf(c.type).paysOut ? ZERO : positive(netChange(c, 'to')),
    returned: ZERO,
    paid: factsOf(c.type).paysOut ? decimalOrZero(c.order.amount_to) : ZERO,
    refunded: ZERO,
  };
}

/** Unpaid, but never more than an exact payout still misses: what the exchange yielded beyond that stays reported. */
export function payable(c: Case, { unpaid, paid }: Purse): Big {
  const { amount_to: exact }: RequestFields = c.request;
  return isStrict(c) ? positive(smaller(unpaid, decimal(exact ?? '0').minus(paid))) : unpaid;
}

/** Never more than the deposit brought: exchanging back may gain by a rate that moved. */
function refundable(c: Case, { unexchanged, returned, refunded }: Purse): Big {
  if (!startsWithDeposit(c)) return ZERO;
  return positive(smaller(unexchanged.plus(returned), increases(c, 'from').minus(refunded)));
}

/** How much a move may take now; 0 where there is nothing for it or it does not suit the order. */
export function takes(c: Case, purse: Purse, move: Move): Big {
  if (!move.suits(c)) return ZERO;
  if (move === REFUND) return refundable(c, purse);
  if (move === UNDO_EXCHANGE) return purse.exchanged;
  if (move === EXCHANGE_BACK) return purse.unpaid;
  return move.kind === 'unpaid' ? payable(c, purse) : purse.unexchanged;
}

/** A follow-up at its end, with what its own figures say about it. */
export interface Ended {
  move: Move;
  amount: Amount;
  case: Case;
  left: Figures;
}

/** The purse after a follow-up: what it took of `amount` is gone, and what it brought is there. */
export function afterFollowUp(c: Case, purse: Purse, { move, amount, case: followUp, left }: Ended): Purse {
  const rest = positive(move.as === 'withdraw' ? left.unpaid : left.unexchanged);
  const taken = decimal(amount).minus(rest);
  const gained = netChange(followUp, 'to');
  if (move === REFUND) return afterRefund(purse, taken);
  // What came of exchanging net[T] back stays with the merchant: the table refunds no more than R_F there.
  if (move === UNDO_EXCHANGE) return { ...purse, exchanged: purse.exchanged.minus(taken) };
  if (move === EXCHANGE_BACK) {
    const returned = startsWithDeposit(c) ? purse.returned.plus(gained) : purse.returned;
    return { ...purse, unpaid: purse.unpaid.minus(taken), returned };
  }
  const paid = factsOf(followUp.type).paysOut ? purse.paid.plus(decimalOrZero(followUp.order.amount_to)) : purse.paid;
  if (move.kind === 'unpaid') return { ...purse, unpaid: purse.unpaid.minus(taken), paid };
  const brought = move === EXCHANGE_TO_PAY ? gained : positive(left.unpaid);
  return { ...purse, unexchanged: purse.unexchanged.minus(taken), unpaid: purse.unpaid.plus(brought), paid };
}

function afterRefund(purse: Purse, taken: Big): Purse {
  const ofReturned = positive(taken.minus(purse.unexchanged));
  return {
    ...purse,
    unexchanged: purse.unexchanged.minus(taken).plus(ofReturned),
    returned: purse.returned.minus(ofReturned),
    refunded: purse.refunded.plus(taken),
  };
}
