import type Big from 'big.js';
import { decimal, decimalOrZero, toAmount } from '../../contract/money.js';
import type { CreateRequest, RequestFields } from '../../contract/order/request.js';
import { factsOf, type OrderType, orderSides } from '../../contract/order/types.js';
import type { Balances, RateEntry, Rates } from '../../contract/service-objects.js';
import { checkAgainstRates, rateEntryOf, uncheckableBy } from '../../validation/rate-checks.js';
import type { Account, ActivityDeps } from '../deps.js';
import { invalidOrder } from '../failures.js';
import { balanceIn, commission, readBalances, unreadableBalance } from './balances.js';
import { leastNeeded, mostOfOtherSide } from './other-side.js';

/** A create does not wait long for balances: without them the check is skipped. */
const BALANCES_TIMEOUT_MS = 5_000;

/**
 * Refuses an order that the service would not take, before anything is sent: pair, precision, limits, and with
 * PAYMENT_CHECK_BALANCE a balance that does not cover it. Answers what could not be checked. Throws InvalidOrder.
 */
export async function refuseBeyondLimits(
  deps: ActivityDeps,
  account: Account,
  type: OrderType,
  request: CreateRequest,
  rates: Rates | undefined,
): Promise<string[]> {
  if (!rates) return ['rates were not to be had: limits, precision and balance were not checked'];
  const uncheckable = uncheckableBy(rates, type, request, account.formatChecks);
  if (uncheckable) return [`${uncheckable}: limits, precision and balance were not checked`];
  const errors = checkAgainstRates(type, request, rates);
  if (errors.length > 0) throw invalidOrder(errors);
  if (!deps.checkBalance || !factsOf(type).movesMoneyAtOnce) return [];
  const balances = await readBalances(account, { timeoutMs: BALANCES_TIMEOUT_MS }).catch(() => undefined);
  if (!balances) return ['balances were not to be had: the balance was not checked'];
  const unknown = unreadableBalance(balances, type, request);
  if (unknown) return [`${unknown}: it was not checked`];
  const reason = shortfall(balances, rates, type, request);
  const field = request.amount == null ? 'order.amount_to' : 'order.amount';
  if (reason) throw invalidOrder([{ field, reason }]);
  return [];
}

/**
 * Which cap (PAYMENT_ORDER_CAPS) an order exceeds; undefined = none. Both sides count: the one that the request gives, and
 * the most that the other one may come to. Where that cannot be told, a cap on its currency counts as exceeded.
 */
export function exceededCap(
  { caps }: ActivityDeps,
  type: OrderType,
  request: CreateRequest,
  rates: Rates | undefined,
): string | undefined {
  const { amount, amount_to }: RequestFields = request;
  const { currencyFrom, currencyTo } = orderSides(type, request);
  const [given, other] = amount == null ? [currencyTo, currencyFrom] : [currencyFrom, currencyTo];
  const asked = amount ?? amount_to;
  const cap = caps?.get(given);
  if (asked != null && cap !== undefined && decimal(asked).gt(decimal(cap))) {
    return `${asked} ${given} is above the cap of ${cap} ${given} for one order`;
  }
  const otherCap = caps?.get(other);
  if (otherCap === undefined || other === given) return undefined;
  const most = mostOfOtherSide(type, request, rates);
  if (most?.lte(decimal(otherCap))) return undefined;
  const verb = amount == null ? 'takes' : 'brings';
  return most
    ? `up to ${toAmount(most)} ${other}, estimated from the rates, is above the cap of ${otherCap} ${other} for one order`
    : `what it ${verb} in ${other} cannot be estimated, and there is a cap of ${otherCap} ${other} for one order`;
}

/**
 * Why the balance does not cover an order with its fees, with the figures; undefined = it does, or rates do not tell what
 * the order takes. With `amount_to` that is an estimate, and the lowest one: a refusal ends the order.
 */
export function shortfall(
  balances: Balances,
  rates: Rates,
  type: OrderType,
  request: CreateRequest,
): string | undefined {
  const { amount }: RequestFields = request;
  const { currencyFrom } = orderSides(type, request);
  const entry = rateEntryOf(rates, type, request);
  const needed = amount == null ? leastNeeded(type, request, rates) : entry && withFees(entry, decimal(amount));
  const available = decimalOrZero(balanceIn(balances, currencyFrom)?.amount);
  if (!needed || available.gte(needed)) return undefined;
  const about = amount == null ? 'about ' : '';
  return `the balance of ${toAmount(available)} ${currencyFrom} is less than ${about}${toAmount(needed)} (with fees)`;
}

/** With the commissions of both sides where they are one currency: an upper estimate, whoever pays them. */
function withFees(entry: RateEntry, amount: Big): Big {
  const needed = amount.plus(commission(entry, 'from', amount));
  return entry.currency_from === entry.currency_to ? needed.plus(commission(entry, 'to', amount)) : needed;
}
