import type Big from 'big.js';
import { decimal, sum, toAmount } from '../../contract/money.js';
import type { CompensationPolicy, RevertTarget } from '../../contract/order/input-and-result.js';
import type { DecideAction, TakenDecision } from '../../contract/order/messages.js';
import type { CardPart } from '../../contract/order/request.js';
import { orderSides } from '../../contract/order/types.js';
import type { Case } from './figures.js';
import { type Funds, type Move, PAY, payable, paysToCards, REFUND, takes } from './moves.js';
import { moveByPolicy, movesOf, type Row } from './table.js';

export interface Offer {
  move: Move;
  amount: Big;
  currency: string;
  /** Field that a decision may or must name besides. */
  names?: { field: 'revertTo' | 'wallet_details'; required: boolean };
}

/** Returns the moves of a row that have something to take. */
export function offersOf(c: Case, funds: Funds, row: Row, revertTo?: RevertTarget): Offer[] {
  const { currencyFrom, currencyTo } = orderSides(c.type, c.request);
  return movesOf(row).flatMap((move) => {
    const amount = takes(c, funds, move);
    if (!amount.gt(0)) return [];
    const fromBalanceOfT = move.kind === 'unexchanged' ? currencyFrom : currencyTo;
    const names = namesOf(c, move, amount, revertTo);
    return [{ move, amount, currency: fromBalanceOfT, names }];
  });
}

function namesOf(c: Case, move: Move, amount: Big, revertTo?: RevertTarget): Offer['names'] {
  if (move === REFUND) return { field: 'revertTo', required: revertTo === undefined };
  if (move !== PAY || !paysToCards(c)) return undefined;
  // The order's own cards fit only if all of it is paid again.
  const { wallet_details: cards } = c.request as { wallet_details: CardPart[] };
  return { field: 'wallet_details', required: !totalOf(cards).eq(amount) };
}

export const totalOf = (cards: readonly CardPart[]): Big => sum(cards.map(({ amount }) => decimal(amount)));

/** Returns the offer that a policy chooses without an operator. */
export function offerByPolicy(offers: readonly Offer[], row: Row, policy: CompensationPolicy): Offer | undefined {
  const move = moveByPolicy(row, policy);
  return offers.find((offer) => offer.move === move && !offer.names?.required);
}

export const actionsOf = (offers: readonly Offer[]): DecideAction[] => [
  ...new Set<DecideAction>(offers.map(({ move }) => move.action)),
  'accept',
];

const wayOf = ({ kind, as }: Move): string => (kind ? `${kind} as ${as}` : `as ${as}`);

export function describeOffer({ move, amount, currency, names }: Offer): string {
  const needs = names?.required ? `, needs ${names.field}` : '';
  return `${move.action} ${wayOf(move)} (${toAmount(amount)} ${currency}${needs})`;
}

/** Returns the one offer that fits a decision, or a refusal reason. */
export function chooseOffer(offers: readonly Offer[], decision: Partial<TakenDecision>): Offer | string {
  const { action, kind, as } = decision;
  const ofAction = offers.filter(({ move }) => move.action === action);
  const fitting = ofAction.filter(({ move }) => (!kind || move.kind === kind) && (!as || move.as === as));
  const [offer, ...others] = fitting;
  const possible = ofAction.map(describeOffer).join(', ');
  if (!offer) return `no such way to ${action}; possible: ${possible}`;
  if (others.length > 0) return `which way to ${action}? Name kind or as; possible: ${possible}`;
  return offer;
}

/** Returns true while `action` still has something to take. */
export function isUnfinished(c: Case, funds: Funds, row: Row, action: Move['action']): boolean {
  const unpaid = payable(c, funds).gt(0);
  if (action === 'finish') return funds.unexchanged.gt(0) || unpaid;
  if (funds.unpaid.gt(0) || takes(c, funds, REFUND).gt(0)) return true;
  // Money that never left the balance needs no revert, unless the row has two remainders.
  return row.twoRemainders === true && funds.unexchanged.gt(0);
}
