import { decimalOrZero } from '../../contract/money.js';
import { paysOut } from '../../contract/order-sides.js';
import type { OrderType } from '../../contract/orders.js';
import type { Case, Figures } from './figures.js';

/** A final order seen as the table sees it. */
interface Situation {
  type: OrderType;
  status: string;
  left: 'nothing' | 'unexchanged' | 'unpaid' | 'both';
  /** Balance changes, an amount received or paid, or a blockchain hash. */
  moved: boolean;
  /** An amount paid out, or the hash of a payout. */
  paid: boolean;
  multipleCards: boolean;
}

/** Who may start a follow-up: the policy by itself, only a person, or nobody. */
type Permission = 'auto' | 'decide' | 'never';

/** One row of the compensation table. */
export interface Row {
  name: string;
  applies: (s: Situation) => boolean;
  /** Nothing is left: every policy ends as 'none'. */
  nothingLeft?: true;
  /** A person should look although nothing waits for a decision. */
  attention?: true;
  /** No figure says what is left. */
  untold?: true;
  finish: Permission;
  /** 'report': there is nothing to revert, so the policy ends like `report`. */
  revert: Permission | 'report';
  /** The policy of an order that names none. */
  byDefault: 'report' | 'ask';
}

const partial = (s: Situation): boolean => s.status === 'completed_partially';
const error = (s: Situation): boolean => s.status === 'error';
const startsWithDeposit = (s: Situation): boolean => s.type.startsWith('deposit');

const nothingLeft = { nothingLeft: true, finish: 'never', revert: 'never', byDefault: 'report' } as const;
const askOnly = { finish: 'never', revert: 'never', byDefault: 'ask' } as const;

/**
 * What is left of an order and what may be done about it; the first row that applies holds. No row lets `revert` move
 * money yet: where 'never' stands in that column, the policy asks a person instead.
 */
export const COMPENSATION_TABLE: readonly Row[] = [
  { name: 'completed', applies: (s) => s.status === 'completed', ...nothingLeft },
  {
    name: 'the deposit never came',
    applies: (s) => startsWithDeposit(s) && !partial(s) && !s.moved,
    ...nothingLeft,
  },
  {
    name: 'a deposit that the service holds or credited',
    applies: (s) => s.type === 'deposit',
    untold: true,
    ...askOnly,
  },
  {
    name: 'a partial payout to several cards (which one is missing is not documented)',
    applies: (s) => paysOut(s.type) && partial(s) && s.multipleCards,
    ...askOnly,
  },
  {
    name: 'left in two places',
    applies: (s) => partial(s) && s.left === 'both',
    ...askOnly,
  },
  {
    name: 'not exchanged in full',
    applies: (s) => !paysOut(s.type) && partial(s) && s.left === 'unexchanged',
    finish: 'auto',
    revert: 'never',
    byDefault: 'report',
  },
  {
    name: 'paid out in part',
    applies: (s) => s.type === 'withdraw' && partial(s) && s.left === 'unpaid',
    finish: 'auto',
    // Paid money cannot return.
    revert: 'report',
    byDefault: 'ask',
  },
  {
    name: 'exchanged, but not paid out in full',
    applies: (s) => paysOut(s.type) && partial(s) && s.left === 'unpaid',
    finish: 'decide',
    revert: 'never',
    byDefault: 'ask',
  },
  {
    name: 'the deposit was neither exchanged nor paid out in full',
    applies: (s) => s.type === 'deposit_exchange_withdraw' && partial(s) && s.left === 'unexchanged',
    finish: 'decide',
    revert: 'never',
    byDefault: 'ask',
  },
  {
    name: 'neither exchanged nor paid out in full',
    applies: (s) => s.type === 'exchange_withdraw' && partial(s) && s.left === 'unexchanged',
    finish: 'decide',
    // What is left is where it came from.
    revert: 'report',
    byDefault: 'ask',
  },
  {
    name: 'not executed: all of it is still on the balance',
    applies: (s) => !startsWithDeposit(s) && error(s) && !s.moved,
    finish: 'decide',
    revert: 'report',
    byDefault: 'report',
  },
  {
    name: 'ended in error after the deposit was credited',
    applies: (s) => s.type === 'deposit_exchange' && error(s) && s.left === 'unexchanged',
    finish: 'decide',
    revert: 'never',
    byDefault: 'ask',
  },
  {
    name: 'ended in error after the exchange',
    applies: (s) => s.type === 'exchange_withdraw' && error(s) && s.left === 'unpaid' && !s.paid,
    finish: 'decide',
    revert: 'never',
    byDefault: 'ask',
  },
  {
    name: 'canceled although it starts with our own money (not documented)',
    applies: (s) => !startsWithDeposit(s) && s.status === 'canceled' && !s.moved,
    attention: true,
    finish: 'never',
    revert: 'report',
    byDefault: 'report',
  },
  // An error or cancellation after something moved contradicts "was not executed": only a person may close it.
  { name: 'a contradiction: the status does not fit what moved', applies: () => true, ...askOnly },
];

/** The row of a final order. Every order has one. */
export function rowOf(c: Case, left: Figures): Row {
  const situation = situationOf(c, left);
  const row = COMPENSATION_TABLE.find((candidate) => candidate.applies(situation));
  if (!row) throw new RangeError('the last row of the table applies to everything');
  return row;
}

function situationOf(c: Case, { unexchanged, unpaid }: Figures): Situation {
  const { order } = c;
  const withdrawn = order.blockchain_withdrawal_hash !== null;
  const gained = decimalOrZero(order.amount_to).gt(0);
  const sides = [unexchanged?.gt(0) ? 'unexchanged' : '', unpaid?.gt(0) ? 'unpaid' : ''] as const;
  return {
    type: c.type,
    status: order.status,
    left: sides[0] && sides[1] ? 'both' : sides[0] || sides[1] || 'nothing',
    moved:
      c.changes.length > 0 ||
      gained ||
      (c.type.startsWith('deposit') && decimalOrZero(order.amount_from).gt(0)) ||
      order.blockchain_deposit_hash !== null ||
      withdrawn,
    paid: withdrawn || (paysOut(c.type) && gained),
    multipleCards: Array.isArray(c.request && 'wallet_details' in c.request ? c.request.wallet_details : null),
  };
}
