import type Big from 'big.js';
import { decimal, decimalOrZero, toAmount } from '../../contract/money.js';
import { directionsSeen, exchangedPart, placesOf, receivedPart } from './exchange-rate.js';
import { type Case, type Figures, netChange, requestedAmount } from './figures.js';
import { startsWithDeposit } from './moves.js';
import { payerDoubts } from './payers.js';

/**
 * The checks under which the figures may be believed. Each returns the reasons against them, with the figures shown:
 * an operator reads these lines. Any reason sends the case to a person.
 */
export function failedChecks(c: Case, left: Figures): string[] {
  return [
    ...precisionsArePlaces(c),
    ...payerDoubts(c, left),
    ...changesAddUp(c),
    ...remaindersArePlausible(c, left),
    ...amountsMatchChanges(c),
    ...rateMatches(c, left),
    ...partialLeftSomething(c, left),
    ...nothingMovedUnseen(c),
  ];
}

/** 1. Every change adds up, and only the order's two currencies occur. */
function changesAddUp({ order, changes }: Case): string[] {
  return changes.flatMap(({ currency, amount_before, amount_change, amount_after }) => {
    if (currency !== order.currency_from && currency !== order.currency_to) return [`a balance change in ${currency}`];
    const fits = decimal(amount_before).plus(decimal(amount_change)).eq(decimal(amount_after));
    return fits ? [] : [`${currency}: ${amount_before} ${amount_change} does not give ${amount_after}`];
  });
}

/** 2. Nothing negative, and no more left than there was. */
function remaindersArePlausible(c: Case, { unexchanged, unpaid }: Figures): string[] {
  const reasons: string[] = [];
  const most = startsWithDeposit(c) ? decimalOrZero(c.order.amount_from) : requestedAmount(c);
  if (unexchanged?.lt(0)) reasons.push(`unexchanged ${toAmount(unexchanged)} is below 0`);
  if (unexchanged?.gt(most)) reasons.push(`unexchanged ${toAmount(unexchanged)} is more than ${toAmount(most)}`);
  if (unpaid?.lt(0)) reasons.push(`unpaid ${toAmount(unpaid)} is below 0`);
  return reasons;
}

/** 3. The order's own amounts are what the balances say (inferred; the interface does not promise it). */
function amountsMatchChanges(c: Case): string[] {
  const { order } = c;
  const amountFrom = decimalOrZero(order.amount_from);
  const amountTo = decimalOrZero(order.amount_to);
  const netFrom = netChange(c, order.currency_from);
  const netTo = netChange(c, order.currency_to);
  const reasons: string[] = [];
  const expectEqual = (name: string, actual: Big, expected: Big) => {
    if (!actual.eq(expected))
      reasons.push(`${name} ${toAmount(actual)} is not ${toAmount(expected)}, as the balances say`);
  };
  if (c.type === 'exchange' || c.type === 'exchange_withdraw') expectEqual('amount_from', amountFrom, netFrom.neg());
  if (c.type === 'exchange' || c.type === 'deposit_exchange') expectEqual('amount_to', amountTo, netTo);
  if (c.type === 'withdraw') {
    expectEqual('amount_to + fee', amountTo.plus(decimalOrZero(order.amount_to_fee)), netTo.neg());
  }
  return reasons;
}

/** 4. What was exchanged arrived at the actual rate, in the direction that also fits what was expected (inferred). */
function rateMatches(c: Case, left: Figures): string[] {
  const { order } = c;
  if (left.unexchanged === undefined) return [];
  const exchanged = exchangedPart(c, left.unexchanged);
  if (!exchanged.gt(0)) return arrivedWithoutExchange(c, left);
  const actualRate = order.exchange_rate_actual;
  if (!actualRate || !order.exchange_rate_initial) return ['an exchange without a rate'];
  const shown = `${toAmount(exchanged)} exchanged at ${actualRate} does not give ${toAmount(receivedPart(c))}`;
  return directionsSeen(c, left).length > 0 ? [] : [shown];
}

function arrivedWithoutExchange(c: Case, { unpaid }: Figures): string[] {
  const arrived = unpaid ?? netChange(c, c.order.currency_to);
  if (!arrived.gt(0)) return [];
  return [`${toAmount(arrived)} ${c.order.currency_to} on the balance, though nothing was exchanged`];
}

/** A precision that is no number of decimal places says nothing about what may be rounded. */
function precisionsArePlaces({ order }: Case): string[] {
  return (['currency_from_precision', 'currency_to_precision'] as const).flatMap((name) =>
    placesOf(order[name]) === order[name] ? [] : [`${name} ${order[name]} is no number of decimal places`],
  );
}

/** 6. A partial order moved something and left something. */
function partialLeftSomething({ order, changes }: Case, { unexchanged, unpaid }: Figures): string[] {
  if (order.status !== 'completed_partially') return [];
  const reasons = changes.length === 0 ? ['a partial order without balance changes'] : [];
  if (!unexchanged?.gt(0) && !unpaid?.gt(0)) reasons.push('a partial order that left nothing');
  return reasons;
}

/** 7. An amount paid or a payout's hash without a balance change: the changes do not tell all, so they tell nothing. */
function nothingMovedUnseen({ order, changes }: Case): string[] {
  const paid = decimalOrZero(order.amount_to).gt(0) || order.blockchain_withdrawal_hash !== null;
  return paid && changes.length === 0 ? ['something was paid, but no balance change shows it'] : [];
}
