import type Big from 'big.js';
import { decimal, decimalOrZero, toAmount } from '../../contract/money.js';
import type { CreateRequest, RequestFields } from '../../contract/order/request.js';
import type { OrderType } from '../../contract/order/types.js';
import { orderSides } from '../../contract/order/types.js';
import type { Balances, RateEntry, Rates } from '../../contract/service-objects.js';
import { rateEntryOf } from '../../validation/rate-checks.js';
import { balanceIn, commission } from './balances.js';
import { leastNeeded } from './other-side.js';

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

const withFees = (entry: RateEntry, amount: Big): Big => amount.plus(highestFee(entry, amount));

/** The commissions of both sides where they are one currency: an upper estimate, whoever pays them. */
function highestFee(entry: RateEntry, amount: Big): Big {
  const from = commission(amount, entry.fixed_fee_amount_from, entry.fee_percent_from, entry.min_fee_amount_from);
  if (entry.currency_from !== entry.currency_to) return from;
  return from.plus(commission(amount, entry.fixed_fee_amount_to, entry.fee_percent_to, entry.min_fee_amount_to));
}
