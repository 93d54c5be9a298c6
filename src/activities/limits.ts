import { decimal } from '../contract/money.js';
import { orderSides, type RequestFields } from '../contract/order-sides.js';
import { type CreateRequest, movesMoneyAtOnce, type OrderType } from '../contract/orders.js';
import { checkAgainstRates } from '../contract/rate-checks.js';
import type { Rates } from '../contract/service-objects.js';
import { readBalances, shortfall } from './balances.js';
import type { Account, ActivityDeps } from './deps.js';
import { invalidOrder } from './failures.js';
import { rateEntryOf } from './shared-rates.js';

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
  const errors = checkAgainstRates(type, request, rates);
  if (errors.length > 0) throw invalidOrder(errors);
  const entry = rateEntryOf(rates, type, request);
  if (!deps.checkBalance || !movesMoneyAtOnce(type) || !entry) return [];
  const balances = await readBalances(account, { timeoutMs: BALANCES_TIMEOUT_MS }).catch(() => undefined);
  if (!balances) return ['balances were not to be had: the balance was not checked'];
  const reason = shortfall(balances, entry, type, request);
  if (reason) throw invalidOrder([{ field: 'order.amount', reason }]);
  return [];
}

/** Which cap (PAYMENT_ORDER_CAPS) an order exceeds, in the currency its amount is given in; undefined = none. */
export function exceededCap({ caps }: ActivityDeps, type: OrderType, request: CreateRequest): string | undefined {
  const { amount, amount_to }: RequestFields = request;
  const { currencyFrom, currencyTo } = orderSides(type, request);
  const currency = amount === undefined ? currencyTo : currencyFrom;
  const asked = amount ?? amount_to;
  const cap = caps?.get(currency);
  if (asked === undefined || cap === undefined || !decimal(asked).gt(decimal(cap))) return undefined;
  return `${asked} ${currency} is above the cap of ${cap} ${currency} for one order`;
}
