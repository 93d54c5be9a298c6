import Big from 'big.js';
import { type Amount, decimal, decimalOrZero, sum } from '../../contract/money.js';
import { applyRate, directionsSeen, placesOf, tolerance } from './exchange-rate.js';
import { type Case, type Figures, requestedAmount } from './figures.js';

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
  const directions = type.includes('exchange') ? directionsSeen(c, left) : [undefined];
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

const ZERO = new Big(0);
const QUOTIENT_DIGITS = 40;

/** Bounds of the commission that a client was quoted; without `most` it is not known. */
function quotedFee(c: Case, side: Side): { least: Big; most?: Big } {
  const { order } = c;
  if (payerOf(c, side) !== 'client') return { least: ZERO, most: ZERO };
  const fee = feeOf(c, side);
  const actual = decimalOrZero(order[`amount_${side}`]);
  if (!fee.gt(0) || !actual.gt(0)) return { least: ZERO };
  const unit = new Big(`1e-${placesOf(order[`currency_${side}_precision`])}`);
  const scaled = inProportion(fee, order[`expected_amount_${side}`], actual);
  const [less, more] = scaled.lt(fee) ? [scaled, fee] : [fee, scaled];
  return { least: less.minus(unit), most: more.plus(unit) };
}

function inProportion(fee: Big, expected: Amount, actual: Big): Big {
  const Quotient = Big();
  Quotient.DP = QUOTIENT_DIGITS;
  return new Quotient(fee.times(decimal(expected))).div(actual);
}
