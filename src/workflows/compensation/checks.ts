import type Big from 'big.js';
import { decimal, decimalOrZero, divide, isPlaces, toAmount } from '../../contract/money.js';
import { factsOf } from '../../contract/order/types.js';
import {
  applyRate,
  type Case,
  changesOn,
  decreases,
  directionsSeen,
  exchangedPart,
  type Figures,
  feeOf,
  increases,
  netChange,
  placesOf,
  requestedAmount,
  type Side,
  showsFee,
  tolerance,
} from './figures.js';
import { startsWithDeposit } from './moves.js';

/** The reasons against believing the figures, as an operator reads them. Any of them sends the case to a person. */
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

/** Every change adds up, and only the order's two currencies occur; one of both sides would count on both. */
function changesAddUp({ type, order, changes }: Case): string[] {
  if (factsOf(type).exchanges && order.currency_from === order.currency_to)
    return [`${order.currency_from} exchanged into itself`];
  return changes.flatMap(({ currency, amount_before, amount_change, amount_after }) => {
    if (currency !== order.currency_from && currency !== order.currency_to) return [`a balance change in ${currency}`];
    const fits = decimal(amount_before).plus(decimal(amount_change)).eq(decimal(amount_after));
    return fits ? [] : [`${currency}: ${amount_before} ${amount_change} does not give ${amount_after}`];
  });
}

/** Nothing negative, and no more left than there was. */
function remaindersArePlausible(c: Case, { unexchanged, unpaid }: Figures): string[] {
  const reasons: string[] = [];
  const most = startsWithDeposit(c) ? decimalOrZero(c.order.amount_from) : requestedAmount(c);
  if (unexchanged?.lt(0)) reasons.push(`unexchanged ${toAmount(unexchanged)} is below 0`);
  if (unexchanged?.gt(most)) reasons.push(`unexchanged ${toAmount(unexchanged)} is more than ${toAmount(most)}`);
  if (unpaid?.lt(0)) reasons.push(`unpaid ${toAmount(unpaid)} is below 0`);
  return reasons;
}

/**
 * The order's own amounts and commissions are exactly what the balances say. A commission that is only quoted fails here, so
 * that it never counts as withheld.
 */
function amountsMatchChanges(c: Case): string[] {
  const { order, changes } = c;
  const amounts = { from: decimalOrZero(order.amount_from), to: decimalOrZero(order.amount_to) };
  const { exchanges, startsWithDeposit: deposited, paysOut } = factsOf(c.type);
  const reasons: string[] = [];
  const expectEqual = (name: string, actual: Big, expected: Big) => {
    if (!actual.eq(expected))
      reasons.push(`${name} ${toAmount(actual)} is not ${toAmount(expected)}, as the balances say`);
  };
  if (exchanges && !deposited) expectEqual('amount_from', amounts.from, netChange(c, 'from').neg());
  if (exchanges && !paysOut) expectEqual('amount_to', amounts.to, netChange(c, 'to'));
  // If nothing moved, the order shows what it quoted, and nothing is added back.
  const moved = (side: Side) => changes.length > 0 || amounts[side].gt(0);
  if (deposited && moved('from')) {
    const byClient = payerOf(c, 'from') === 'client';
    const [name, credited] = byClient ? [' - fee', amounts.from.minus(feeOf(c, 'from'))] : ['', amounts.from];
    expectEqual(`amount_from${name}`, credited, increases(c, 'from'));
    if (!byClient && feeOf(c, 'from').gt(0) && !showsFee(c, 'from'))
      reasons.push(`no balance change shows the commission ${toAmount(feeOf(c, 'from'))} on amount_from`);
  }
  if (paysOut && moved('to')) expectEqual('amount_to + fee', amounts.to.plus(feeOf(c, 'to')), decreases(c, 'to'));
  return reasons;
}

/** What was exchanged arrived at the actual rate, in the direction that also fits what was expected (inferred). */
function rateMatches(c: Case, left: Figures): string[] {
  const { order } = c;
  if (left.unexchanged === undefined) return [];
  const exchanged = exchangedPart(c, left.unexchanged);
  const received = increases(c, 'to');
  if (!exchanged.gt(0) && !received.gt(0)) return [];
  if (!exchanged.gt(0))
    return [`${toAmount(received)} ${order.currency_to} on the balance, though nothing was exchanged`];
  const actualRate = order.exchange_rate_actual;
  if (!actualRate || !order.exchange_rate_initial) return ['an exchange without a rate'];
  const shown = `${toAmount(exchanged)} exchanged at ${actualRate} does not give ${toAmount(received)}`;
  return directionsSeen(c, left).length > 0 ? [] : [shown];
}

/** A precision that is no number of decimal places says nothing about what may be rounded. */
function precisionsArePlaces({ order }: Case): string[] {
  return (['currency_from_precision', 'currency_to_precision'] as const).flatMap((name) =>
    isPlaces(order[name]) ? [] : [`${name} ${order[name]} is no number of decimal places`],
  );
}

/** A partial order moved something and left something. */
function partialLeftSomething({ order, changes }: Case, { unexchanged, unpaid }: Figures): string[] {
  if (order.status !== 'completed_partially') return [];
  const reasons = changes.length === 0 ? ['a partial order without balance changes'] : [];
  if (!unexchanged?.gt(0) && !unpaid?.gt(0)) reasons.push('a partial order that left nothing');
  return reasons;
}

/** An amount paid or a payout's hash without a balance change: the changes do not tell all, so they tell nothing. */
function nothingMovedUnseen({ order, changes }: Case): string[] {
  const paid = decimalOrZero(order.amount_to).gt(0) || order.blockchain_withdrawal_hash !== null;
  return paid && changes.length === 0 ? ['something was paid, but no balance change shows it'] : [];
}

/*
 * The payer of a commission decides whether it is part of what a payout took. It comes from rates, which are up to ten minutes
 * old and may have changed since: it is believed only while nothing disagrees with it.
 */

const SIDES: readonly Side[] = ['from', 'to'];

const payerOf = ({ payers }: Case, side: Side): string | null | undefined => payers?.[side];

/** Sides whose commission was charged, so that its payer moves the figures. */
export const chargedSides = (c: Case): Side[] =>
  SIDES.filter((side) => feeOf(c, side).gt(0) && changesOn(c, side).length > 0);

/** Reasons against what is kept about the payers: it is unknown, rates said otherwise later, or the figures do. */
export function payerDoubts(c: Case, left: Figures): string[] {
  const unknown = SIDES.filter(
    (side) => feeOf(c, side).gt(0) && !['client', 'merchant'].includes(payerOf(c, side) ?? ''),
  );
  if (unknown.length > 0) return unknown.map((side) => `who paid the commission on amount_${side} is not known`);
  return [...changedInRates(c), ...payoutPayerUnproven(c, left)];
}

/** Any other answer of the rates, earlier or later than the one kept: nobody knows by which the order was worked. */
function changedInRates(c: Case): string[] {
  const { laterPayers } = c;
  if (!laterPayers) return [];
  return chargedSides(c).flatMap((side) => {
    const [kept, later] = [payerOf(c, side), laterPayers[side]];
    return kept === later ? [] : [`the commission on amount_${side} is paid by ${kept}, and rates said ${later} later`];
  });
}

/**
 * A client's commission makes what was expected to arrive smaller, a merchant's does not (inferred). If the balance does not
 * show a merchant's apart, the expected amounts must rule out a client's: the rounding of a rate never bounds money.
 */
function payoutPayerUnproven(c: Case, left: Figures): string[] {
  if (!chargedSides(c).includes('to')) return [];
  const byClient = payerOf(c, 'to') === 'client';
  if (!decimalOrZero(c.order.amount_to).gt(0)) return ['a commission on amount_to, although nothing was paid'];
  if (showsFee(c, 'to'))
    return byClient ? ['the commission on amount_to was withheld separately, although the client pays it'] : [];
  const directions = factsOf(c.type).exchanges ? directionsSeen(c, left) : [undefined];
  // Without a direction there is a doubt already: the rate does not fit.
  if (directions.length === 0 || directions.some((multiply) => fitsClient(c, multiply)) === byClient) return [];
  const became = `${toAmount(requestedAmount(c))} was to become ${c.order.expected_amount_to}`;
  return [`${became}, which does not show that the ${payerOf(c, 'to')} pays the commission on amount_to`];
}

/** Returns true if what was asked for, less the least payout commission that a client was quoted, may be what is expected. */
function fitsClient(c: Case, multiply: boolean | undefined): boolean {
  const { order } = c;
  const [asked, expected] = [requestedAmount(c), decimal(order.expected_amount_to)];
  const rate = order.exchange_rate_initial ?? '1';
  const arrives = multiply === undefined ? asked : applyRate(asked, decimal(rate), multiply);
  const rounding = multiply === undefined ? 0 : tolerance(order, asked, rate, multiply);
  // The charged one, in proportion give or take its fixed part.
  const [fee, paid] = [feeOf(c, 'to'), decimalOrZero(order.amount_to)];
  const scaled = paid.gt(expected) ? divide(fee.times(expected), paid) : fee;
  const quoted = scaled.minus(`1e-${placesOf(order.currency_to_precision)}`);
  return arrives.minus(quoted).plus(rounding).gte(expected);
}
