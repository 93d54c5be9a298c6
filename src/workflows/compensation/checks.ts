import Big from 'big.js';
import { type Amount, decimal, decimalOrZero, toAmount } from '../../contract/money.js';
import type { Order } from '../../contract/orders.js';
import { type Case, type Figures, netChange, requestedAmount } from './figures.js';

/**
 * The checks under which the figures may be believed. Each returns the reasons against them, with the figures shown:
 * an operator reads these lines. Any reason sends the case to a person.
 */
export function failedChecks(c: Case, left: Figures): string[] {
  return [
    ...precisionsArePlaces(c),
    ...payersAreKnown(c),
    ...changesAddUp(c),
    ...remaindersArePlausible(c, left),
    ...amountsMatchChanges(c),
    ...rateMatches(c, left),
    ...partialLeftSomething(c, left),
    ...nothingMovedUnseen(c),
  ];
}

const startsWithDeposit = (c: Case): boolean => c.type.startsWith('deposit');

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
  const received = receivedPart(c);
  const matches = directionsThatFit(c).some((multiply) => {
    const arrived = applyRate(exchanged, decimal(actualRate), multiply);
    return received
      .minus(arrived)
      .abs()
      .lte(tolerance(order, exchanged, actualRate, multiply));
  });
  const shown = `${toAmount(exchanged)} exchanged at ${actualRate} does not give ${toAmount(received)}`;
  return matches ? [] : [shown];
}

function arrivedWithoutExchange(c: Case, { unpaid }: Figures): string[] {
  const arrived = unpaid ?? netChange(c, c.order.currency_to);
  if (!arrived.gt(0)) return [];
  return [`${toAmount(arrived)} ${c.order.currency_to} on the balance, though nothing was exchanged`];
}

/** Digits kept by divisions; far beyond any currency's precision. */
const QUOTIENT_DIGITS = 40;

function applyRate(amount: Big, rate: Big, multiply: boolean): Big {
  if (multiply) return amount.times(rate);
  if (rate.eq(0)) return new Big(0);
  const Quotient = Big();
  Quotient.DP = QUOTIENT_DIGITS;
  return new Quotient(amount).div(rate);
}

/** The part that went into the exchange: what was there, less a client's commission, less what stayed. */
function exchangedPart(c: Case, unexchanged: Big): Big {
  if (!startsWithDeposit(c)) return requestedAmount(c).minus(unexchanged);
  const clientFee = c.payers?.from === 'client' ? decimalOrZero(c.order.amount_from_fee) : new Big(0);
  return decimalOrZero(c.order.amount_from).minus(clientFee).minus(unexchanged);
}

/** The part that came out of the exchange: what is on the balance and what went on to the wallet with its fee. */
function receivedPart(c: Case): Big {
  const netTo = netChange(c, c.order.currency_to);
  if (!c.type.endsWith('withdraw')) return netTo;
  return netTo.plus(decimalOrZero(c.order.amount_to)).plus(decimalOrZero(c.order.amount_to_fee));
}

/** Two directions whose results differ by less than this factor cannot be told apart: commissions hide the difference. */
const AMBIGUOUS_WITHIN = 2;

/**
 * Whether a rate multiplies or divides is not documented: the directions that fit the order's expected amounts. The
 * commissions between those only take, so a direction that gives less than what is expected is ruled out.
 */
function directionsThatFit({ order }: Case): boolean[] {
  const from = decimal(order.expected_amount_from);
  const rate = order.exchange_rate_initial ?? '0';
  if (!decimal(rate).gt(0)) return [];
  const possible = [true, false]
    .map((multiply) => ({ multiply, gives: applyRate(from, decimal(rate), multiply) }))
    .filter(({ multiply, gives }) =>
      gives.plus(tolerance(order, from, rate, multiply)).gte(decimal(order.expected_amount_to)),
    )
    .sort((a, b) => a.gives.cmp(b.gives));
  const most = possible[0]?.gives.times(AMBIGUOUS_WITHIN);
  return possible.flatMap(({ multiply, gives }) => (most && gives.lte(most) ? [multiply] : []));
}

/** One unit of the target's precision, plus half of the rate's last digit applied to the exchanged part. */
function tolerance(order: Order, exchanged: Big, rate: Amount, multiply: boolean): Big {
  const unit = new Big(`1e-${placesOf(order.currency_to_precision)}`);
  const digits = rate.split('.')[1]?.length ?? 0;
  const halfDigit = new Big(`5e-${digits + 1}`);
  if (multiply) return unit.plus(exchanged.times(halfDigit));
  return unit.plus(applyRate(applyRate(exchanged, decimal(rate), false).times(halfDigit), decimal(rate), false));
}

/** More decimal places than any currency has. */
const MAX_PLACES = 30;

const placesOf = (precision: number): number => Math.min(Math.max(precision, 0), MAX_PLACES);

/** A precision that is no number of decimal places says nothing about what may be rounded. */
function precisionsArePlaces({ order }: Case): string[] {
  return (['currency_from_precision', 'currency_to_precision'] as const).flatMap((name) =>
    placesOf(order[name]) === order[name] ? [] : [`${name} ${order[name]} is no number of decimal places`],
  );
}

/** 5. Who paid a commission must be known, or a remainder could be off by it. */
function payersAreKnown({ order, payers }: Case): string[] {
  const unknown = (fee: string | null, payer: string | null | undefined) =>
    decimalOrZero(fee).gt(0) && payer !== 'client' && payer !== 'merchant';
  return [
    ...(unknown(order.amount_from_fee, payers?.from) ? ['who paid the commission on amount_from is not known'] : []),
    ...(unknown(order.amount_to_fee, payers?.to) ? ['who paid the commission on amount_to is not known'] : []),
  ];
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
