import type Big from 'big.js';
import { decimal, decimalOrZero, divide, isPlaces, SIGNED_AMOUNT_FORMAT, sum, toAmount } from '../../contract/money.js';
import { factsOf } from '../../contract/order/types.js';
import type { Order } from '../../contract/service-objects.js';
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
  startsWithDeposit,
  tolerance,
} from './figures.js';

/** Returns the reasons not to believe the figures. Any of them sends the case to an operator. */
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

/**
 * Returns why an order's cards got more than the order paid. The form of the transactions is not
 * documented, so only readable amounts count.
 */
export function paidBeyond({ wallet_to_transactions: paid, ...order }: Order): string | undefined {
  const amounts = (Array.isArray(paid) ? paid : []).map((part) => String(Object(part).amount));
  const total = sum(amounts.filter((amount) => SIGNED_AMOUNT_FORMAT.test(amount)).map(decimal));
  // The commission may be part of what the cards got.
  const most = decimalOrZero(order.amount_to).plus(decimalOrZero(order.amount_to_fee));
  if (order.amount_to === null || total.lte(most)) return undefined;
  return `wallet_to_transactions add up to ${toAmount(total)} ${order.currency_to}, and amount_to is ${order.amount_to}`;
}

/** Every change adds up, and only the order's two currencies occur. */
function changesAddUp({ type, order, changes }: Case): string[] {
  if (factsOf(type).exchanges && order.currency_from === order.currency_to)
    return [`${order.currency_from} exchanged into itself`];
  return changes.flatMap(({ currency, amount_before, amount_change, amount_after }) => {
    if (currency !== order.currency_from && currency !== order.currency_to) return [`a balance change in ${currency}`];
    const fits = decimal(amount_before).plus(decimal(amount_change)).eq(decimal(amount_after));
    return fits ? [] : [`${currency}: ${amount_before} plus ${amount_change} is not ${amount_after}`];
  });
}

/** Nothing is negative, and no more is left than there was. */
function remaindersArePlausible(c: Case, { unexchanged, unpaid }: Figures): string[] {
  const reasons: string[] = [];
  const most = startsWithDeposit(c) ? decimalOrZero(c.order.amount_from) : requestedAmount(c);
  if (unexchanged?.lt(0)) reasons.push(`unexchanged ${toAmount(unexchanged)} is below 0`);
  if (unexchanged?.gt(most)) reasons.push(`unexchanged ${toAmount(unexchanged)} is more than ${toAmount(most)}`);
  if (unpaid?.lt(0)) reasons.push(`unpaid ${toAmount(unpaid)} is below 0`);
  return reasons;
}

/**
 * Amounts and commissions equal the balance changes. A commission that is only quoted fails here.
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
  // Without any change, the order shows quoted amounts.
  const moved = (side: Side) => changes.length > 0 || amounts[side].gt(0);
  if (deposited && moved('from')) {
    const byClient = c.payers?.from === 'client';
    const [name, credited] = byClient ? [' - fee', amounts.from.minus(feeOf(c, 'from'))] : ['', amounts.from];
    expectEqual(`amount_from${name}`, credited, increases(c, 'from'));
    if (!byClient && feeOf(c, 'from').gt(0) && !showsFee(c, 'from'))
      reasons.push(`no balance change shows the commission ${toAmount(feeOf(c, 'from'))} on amount_from`);
  }
  if (paysOut && moved('to')) expectEqual('amount_to + fee', amounts.to.plus(feeOf(c, 'to')), decreases(c, 'to'));
  return reasons;
}

/** The exchanged part arrived at the actual rate, in a direction that fits (inferred). */
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

function precisionsArePlaces({ order }: Case): string[] {
  return (['currency_from_precision', 'currency_to_precision'] as const).flatMap((name) =>
    isPlaces(order[name]) ? [] : [`${name} ${order[name]} is no number of decimal places`],
  );
}

function partialLeftSomething({ order, changes }: Case, { unexchanged, unpaid }: Figures): string[] {
  if (order.status !== 'completed_partially') return [];
  const reasons = changes.length === 0 ? ['a partial order without balance changes'] : [];
  if (!unexchanged?.gt(0) && !unpaid?.gt(0)) reasons.push('a partial order that left nothing');
  return reasons;
}

/** A payout without a balance change: the changes are incomplete. */
function nothingMovedUnseen({ order, changes }: Case): string[] {
  const paid = decimalOrZero(order.amount_to).gt(0) || order.blockchain_withdrawal_hash !== null;
  return paid && changes.length === 0 ? ['something was paid, but no balance change shows it'] : [];
}

/* Rates name the payer of a commission, and may have changed since. */

const SIDES: readonly Side[] = ['from', 'to'];

/** Returns the sides with a charged commission, for which the payer matters. */
export const chargedSides = (c: Case): Side[] =>
  SIDES.filter((side) => feeOf(c, side).gt(0) && changesOn(c, side).length > 0);

/** Returns doubts about the payers: unknown, or contradicted by later rates or by the figures. */
export function payerDoubts(c: Case, left: Figures): string[] {
  const unknown = SIDES.filter(
    (side) => feeOf(c, side).gt(0) && !['client', 'merchant'].includes(c.payers?.[side] ?? ''),
  );
  if (unknown.length > 0) return unknown.map((side) => `who paid the commission on amount_${side} is not known`);
  return [...changedInRates(c), ...payoutPayerUnproven(c, left)];
}

/** The rates named another payer, earlier or later. */
function changedInRates(c: Case): string[] {
  const { laterPayers } = c;
  if (!laterPayers) return [];
  return chargedSides(c).flatMap((side) => {
    const [kept, later] = [c.payers?.[side], laterPayers[side]];
    return kept === later ? [] : [`the commission on amount_${side} is paid by ${kept}, and rates said ${later} later`];
  });
}

/**
 * A client's commission reduces the expected amount, a merchant's does not (inferred). If the
 * balance shows no merchant's commission, the expected amounts must rule out a client's.
 */
function payoutPayerUnproven(c: Case, left: Figures): string[] {
  if (!chargedSides(c).includes('to')) return [];
  const byClient = c.payers?.to === 'client';
  if (!decimalOrZero(c.order.amount_to).gt(0)) return ['a commission on amount_to, although nothing was paid'];
  if (showsFee(c, 'to'))
    return byClient ? ['the commission on amount_to was withheld separately, although the client pays it'] : [];
  const directions = factsOf(c.type).exchanges ? directionsSeen(c, left) : [undefined];
  // The rate does not fit, which is another doubt.
  if (directions.length === 0 || directions.some((multiply) => fitsClient(c, multiply)) === byClient) return [];
  const became = `${toAmount(requestedAmount(c))} was to become ${c.order.expected_amount_to}`;
  return [`${became}, which does not show that the ${c.payers?.to} pays the commission on amount_to`];
}

/** Returns true if the expected amount fits a commission that the client pays. */
function fitsClient(c: Case, multiply: boolean | undefined): boolean {
  const { order } = c;
  const [asked, expected] = [requestedAmount(c), decimal(order.expected_amount_to)];
  const rate = order.exchange_rate_initial ?? '1';
  const arrives = multiply === undefined ? asked : applyRate(asked, decimal(rate), multiply);
  const rounding = multiply === undefined ? 0 : tolerance(order, asked, rate, multiply);
  // The charged commission, in proportion to the expected amount.
  const [fee, paid] = [feeOf(c, 'to'), decimalOrZero(order.amount_to)];
  const scaled = paid.gt(expected) ? divide(fee.times(expected), paid) : fee;
  const quoted = scaled.minus(`1e-${placesOf(order.currency_to_precision)}`);
  return arrives.minus(quoted).plus(rounding).gte(expected);
}
