import { decimalOrZero } from '../../contract/money.js';
import type { CompensationPolicy } from '../../contract/order/input-and-result.js';
import { factsOf, type OrderType } from '../../contract/order/types.js';
import { type Case, type Figures, startsWithDeposit } from './figures.js';
import {
  EXCHANGE,
  EXCHANGE_AND_PAY,
  EXCHANGE_BACK,
  EXCHANGE_TO_PAY,
  isStrict,
  type Move,
  PAY,
  paysToCards,
  REFUND,
  UNDO_EXCHANGE,
} from './moves.js';

/** A final order as the table sees it. */
interface OrderEnding {
  type: OrderType;
  status: string;
  left: 'nothing' | 'unexchanged' | 'unpaid' | 'both';
  /** Balance changes, an amount received or paid, or a blockchain hash. */
  moved: boolean;
  /** An amount paid out, or the hash of a payout. */
  paid: boolean;
  multipleCards: boolean;
  /** Asked for by `amount_to`. */
  strict: boolean;
}

/** Effect of a policy on a row: one move at once and others by decision, only ask, or report. */
type Way = { byPolicy?: Move; byDecision: readonly Move[] } | 'ask' | 'report';

export interface Row {
  name: string;
  applies: (s: OrderEnding) => boolean;
  /** Nothing is left: every policy ends as 'none'. */
  nothingLeft?: true;
  /** Raises attention without a question. */
  attention?: true;
  /** One follow-up cannot handle both remainders. */
  twoRemainders?: true;
  /** No figure says what is left. */
  leftUnknown?: true;
  finish: Way;
  revert: Way;
  byDefault: 'report' | 'ask';
}

const partial = (s: OrderEnding): boolean => s.status === 'completed_partially';
const error = (s: OrderEnding): boolean => s.status === 'error';
const leaves = (s: OrderEnding, type: OrderType, left: OrderEnding['left']): boolean =>
  s.type === type && s.left === left;

const auto = (byPolicy: Move, ...byDecision: Move[]): Way => ({ byPolicy, byDecision });
const decide = (...byDecision: Move[]): Way => ({ byDecision });
const nothingLeft = { nothingLeft: true, finish: 'ask', revert: 'ask', byDefault: 'report' } as const;
const acceptOnly = { finish: 'ask', revert: 'ask', byDefault: 'ask' } as const;
export const PAID_IN_PART = 'paid out in part';
type Applies = Row['applies'];
const unpaid: Applies = (s) => s.left === 'unpaid';
const unexchanged: Applies = (s) => s.left === 'unexchanged';
const byAmount: Applies = (s) => unexchanged(s) && !s.strict;
const exact: Applies = (s) => unexchanged(s) && s.strict;

/** First a refund of what was not exchanged, then of what an exchange back brings. */
const REFUNDS = auto(REFUND, EXCHANGE_BACK);

/** Remainders in one place of orders done in part, by type. A payout's rest is asked about. */
const IN_PART: Record<OrderType, readonly (readonly [Applies, name: string, finish: Way, revert: Way])[]> = {
  deposit: [],
  deposit_exchange: [
    [unexchanged, 'the deposit was not exchanged in full', auto(EXCHANGE), auto(UNDO_EXCHANGE, REFUND)],
  ],
  deposit_exchange_withdraw: [
    // First the exchange back, then the refund.
    [unpaid, 'the deposit was exchanged, but not paid out in full', auto(PAY), decide(EXCHANGE_BACK, REFUND)],
    [byAmount, 'the deposit was neither exchanged nor paid out in full', auto(EXCHANGE_AND_PAY, PAY), REFUNDS],
    [
      exact,
      'the deposit for an exact payout was neither exchanged nor paid out in full',
      decide(EXCHANGE_TO_PAY, PAY),
      REFUNDS,
    ],
  ],
  exchange: [[unexchanged, 'not exchanged in full', auto(EXCHANGE), auto(UNDO_EXCHANGE)]],
  exchange_withdraw: [
    [unpaid, 'exchanged, but not paid out in full', auto(PAY), auto(EXCHANGE_BACK)],
    // PAY: what an earlier follow-up exchanged but could not pay. The remainder is where it came from.
    [byAmount, 'neither exchanged nor paid out in full', auto(EXCHANGE_AND_PAY, PAY), 'report'],
    [exact, 'an exact payout neither exchanged nor paid out in full', decide(EXCHANGE_TO_PAY, PAY), 'report'],
  ],
  // Paid money cannot return.
  withdraw: [[unpaid, PAID_IN_PART, auto(PAY), 'report']],
};

const inPart = (type: OrderType, [applies, name, finish, revert]: (typeof IN_PART)[OrderType][number]): Row => ({
  name,
  applies: (s) => partial(s) && s.type === type && applies(s),
  finish,
  revert,
  byDefault: factsOf(type).paysOut ? 'ask' : 'report',
});

/** Table of remainders. The first matching row applies. */
export const COMPENSATION_TABLE: readonly Row[] = [
  { name: 'completed', applies: (s) => s.status === 'completed', ...nothingLeft },
  { name: 'the deposit never came', applies: (s) => startsWithDeposit(s) && !partial(s) && !s.moved, ...nothingLeft },
  {
    name: 'a deposit that the service holds or credited',
    applies: (s) => s.type === 'deposit',
    leftUnknown: true,
    ...acceptOnly,
  },
  {
    name: 'a partial payout to several cards (which one is missing is not documented)',
    applies: (s) => factsOf(s.type).paysOut && partial(s) && s.multipleCards,
    finish: decide(PAY),
    revert: 'ask',
    byDefault: 'ask',
  },
  {
    name: 'left in two places',
    applies: (s) => partial(s) && s.left === 'both',
    twoRemainders: true,
    finish: decide(PAY, EXCHANGE_AND_PAY, EXCHANGE_TO_PAY),
    revert: decide(EXCHANGE_BACK, REFUND),
    byDefault: 'ask',
  },
  ...Object.entries(IN_PART).flatMap(([type, rows]) => rows.map((row) => inPart(type as OrderType, row))),
  {
    name: 'not executed: all of it is still on the balance',
    applies: (s) => !startsWithDeposit(s) && error(s) && !s.moved,
    finish: decide(PAY, EXCHANGE, EXCHANGE_AND_PAY, EXCHANGE_TO_PAY),
    revert: 'report',
    byDefault: 'report',
  },
  {
    name: 'ended in error after the deposit was credited',
    applies: (s) => error(s) && leaves(s, 'deposit_exchange', 'unexchanged'),
    finish: decide(EXCHANGE),
    revert: decide(REFUND),
    byDefault: 'ask',
  },
  {
    name: 'ended in error after the exchange',
    applies: (s) => error(s) && leaves(s, 'exchange_withdraw', 'unpaid') && !s.paid,
    finish: decide(PAY),
    revert: decide(EXCHANGE_BACK),
    byDefault: 'ask',
  },
  {
    name: 'canceled although it starts with our own money (not documented)',
    applies: (s) => !startsWithDeposit(s) && s.status === 'canceled' && !s.moved,
    attention: true,
    finish: 'ask',
    revert: 'report',
    byDefault: 'report',
  },
  // After money moved, an error or cancellation is a contradiction: only an operator may close it.
  { name: 'a contradiction: the status does not fit what moved', applies: () => true, ...acceptOnly },
];

/** Returns the row of a final order; the last row applies to everything. */
export function rowOf(c: Case, left: Figures): Row {
  const ending = endingOf(c, left);
  return COMPENSATION_TABLE.find((row) => row.applies(ending)) as Row;
}

export const movesOf = ({ finish, revert }: Row): Move[] =>
  [finish, revert].flatMap((way) =>
    typeof way === 'string' ? [] : [...(way.byPolicy ? [way.byPolicy] : []), ...way.byDecision],
  );

export function moveByPolicy(row: Row, policy: CompensationPolicy): Move | undefined {
  const way = policy === 'finish' || policy === 'revert' ? row[policy] : 'report';
  return typeof way === 'string' ? undefined : way.byPolicy;
}

function endingOf(c: Case, { unexchanged, unpaid }: Figures): OrderEnding {
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
      (startsWithDeposit(c) && decimalOrZero(order.amount_from).gt(0)) ||
      order.blockchain_deposit_hash !== null ||
      withdrawn,
    paid: withdrawn || (factsOf(c.type).paysOut && gained),
    multipleCards: paysToCards(c),
    strict: isStrict(c),
  };
}
