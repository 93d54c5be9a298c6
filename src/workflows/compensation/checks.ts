import Big from 'big.js';
import { decimal, decimalOrZero, divide, isPlaces, sum, toAmount } from '../../contract/money.js';
import { factsOf } from '../../contract/order/types.js';
import {
  applyRate,
  type Case,
  directionsSeen,
  exchangedPart,
  type Figures,
  netChange,
  placesOf,
  receivedPart,
  requestedAmount,
  tolerance,
} from './figures.js';
import { startsWithDeposit } from './moves.js';

const ZERO = new Big(0);

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

/** Every change adds up, and only the order's two currencies occur. */
function changesAddUp({ order, changes }: Case): string[] {
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

/** The order's own amounts are what the balances say (inferred; the interface does not promise it). */
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
  const { exchanges, startsWithDeposit: deposited, paysOut } = factsOf(c.type);
  if (exchanges && !deposited) expectEqual('amount_from', amountFrom, netFrom.neg());
  if (exchanges && !paysOut) expectEqual('amount_to', amountTo, netTo);
  if (paysOut && !exchanges) {
    expectEqual('amount_to + fee', amountTo.plus(decimalOrZero(order.amount_to_fee)), netTo.neg());
  }
  return reasons;
}

/** What was exchanged arrived at the actual rate, in the direction that also fits what was expected (inferred). */
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
 * Who paid a commission decides whether it is added back to what is left. The payer comes from rates, which are up to ten
 * minutes old and may have changed since: it is believed only while nothing disagrees with it.
 */

type Side = 'from' | 'to';
const SIDES: readonly Side[] = ['from', 'to'];

const feeOf = ({ order }: Case, side: Side): Big => decimalOrZero(order[`amount_${side}_fee`]);
const payerOf = ({ payers }: Case, side: Side): string | null | undefined => payers?.[side];

/** Sides whose commission was charged, so that its payer moves the figures. */
export const chargedSides = (c: Case): Side[] =>
  SIDES.filter(
    (side) => feeOf(c, side).gt(0) && c.changes.some(({ currency }) => currency === c.order[`currency_${side}`]),
  );

/** Reasons against what is kept about the payers: it is unknown, rates said otherwise later, or the figures do. */
export function payerDoubts(c: Case, left: Figures): string[] {
  const unknown = SIDES.filter(
    (side) => feeOf(c, side).gt(0) && !['client', 'merchant'].includes(payerOf(c, side) ?? ''),
  );
  if (unknown.length > 0) return unknown.map((side) => `who paid the commission on amount_${side} is not known`);
  return [...changedInRates(c), ...withheldSeparately(c), ...otherThanExpected(c, left)];
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

/** A client's commission is part of what was credited or paid; one that the balance shows apart is the merchant's. */
function withheldSeparately(c: Case): string[] {
  return chargedSides(c)
    .filter((side) => payerOf(c, side) === 'client' && isWithheld(c, side))
    .map((side) => `the commission on amount_${side} was withheld separately, although the client pays it`);
}

function isWithheld(c: Case, side: Side): boolean {
  const changes = c.changes
    .filter(({ currency }) => currency === c.order[`currency_${side}`])
    .map(({ amount_change }) => decimal(amount_change));
  const fee = changes.findIndex((change) => change.eq(feeOf(c, side).neg()));
  if (fee < 0) return false;
  const others = changes.filter((_, index) => index !== fee);
  const amount = decimalOrZero(c.order[`amount_${side}`]);
  if (side === 'from') return others.some((change) => change.eq(amount));
  return amount.gt(0) && sum(others.filter((change) => change.lt(0))).eq(amount.neg());
}

/**
 * A client's commission makes what is expected to arrive smaller, a merchant's does not (inferred). That commission was
 * quoted on what was expected, so it is the charged one in proportion, give or take its fixed part.
 */
function otherThanExpected(c: Case, left: Figures): string[] {
  const { order, type } = c;
  const charged = chargedSides(c);
  const directions = factsOf(type).exchanges ? directionsSeen(c, left) : [undefined];
  // Without a direction there is a doubt already: the rate does not fit.
  if (charged.length === 0 || directions.length === 0) return [];
  if (directions.some((multiply) => isAsExpected(c, multiply))) return [];
  const paid = charged.map((side) => `amount_${side} by ${payerOf(c, side)}`).join(', ');
  const [from, to] = [requestedAmount(c), order.expected_amount_to];
  return [`${from.toFixed()} was to become ${to}, which does not fit commissions paid on ${paid}`];
}

/** True where what was asked for, less the commissions that clients pay, becomes what is expected. */
function isAsExpected(c: Case, multiply: boolean | undefined): boolean {
  const { order } = c;
  const from = requestedAmount(c);
  const rate = order.exchange_rate_initial ?? '1';
  const [onFrom, onTo] = [quotedFee(c, 'from'), quotedFee(c, 'to')];
  const arrives = (feeFrom: Big, feeTo: Big) =>
    (multiply === undefined ? from.minus(feeFrom) : applyRate(from.minus(feeFrom), decimal(rate), multiply)).minus(
      feeTo,
    );
  const expected = decimal(order.expected_amount_to);
  const rounding = multiply === undefined ? ZERO : tolerance(order, from, rate, multiply);
  if (expected.gt(arrives(onFrom.least, onTo.least).plus(rounding))) return false;
  if (!onFrom.most || !onTo.most) return true;
  return expected.gte(arrives(onFrom.most, onTo.most).minus(rounding));
}

/** Bounds of the commission that a client was quoted; without `most` it is not known. */
function quotedFee(c: Case, side: Side): { least: Big; most?: Big } {
  const { order } = c;
  if (payerOf(c, side) !== 'client') return { least: ZERO, most: ZERO };
  const fee = feeOf(c, side);
  const actual = decimalOrZero(order[`amount_${side}`]);
  if (!fee.gt(0) || !actual.gt(0)) return { least: ZERO };
  const unit = new Big(`1e-${placesOf(order[`currency_${side}_precision`])}`);
  const scaled = divide(fee.times(decimal(order[`expected_amount_${side}`])), actual);
  const [less, more] = scaled.lt(fee) ? [scaled, fee] : [fee, scaled];
  return { least: less.minus(unit), most: more.plus(unit) };
}
