import type Big from 'big.js';
import { decimal, decimalOrZero, toAmount } from '../contract/money.js';
import { orderSides } from '../contract/order-sides.js';
import type { CreateRequest, OrderType } from '../contract/orders.js';
import type { Balance, RateEntry } from '../contract/service-objects.js';
import type { CallOptions } from '../payment-service/index.js';
import type { Account } from './deps.js';

/** The account's balances now; remembers its wallets, so that orders can be pinned to them. */
export async function readBalances(account: Account, options?: CallOptions): Promise<Record<string, Balance>> {
  const balances = await account.service.balances(options);
  account.seenWallets = Object.values(balances).map(({ wallet_uuid }) => wallet_uuid);
  return balances;
}

/** Why the balance does not cover an amount with its fees, with the figures; undefined = it does. */
export function shortfall(
  balances: Record<string, Balance>,
  entry: RateEntry,
  type: OrderType,
  request: CreateRequest,
): string | undefined {
  // Orders by amount_to take what the rate of the moment demands: nothing to compare with.
  if (request.amount === undefined) return undefined;
  const { currencyFrom } = orderSides(type, request);
  const available = Object.hasOwn(balances, currencyFrom)
    ? decimalOrZero(balances[currencyFrom]?.amount)
    : decimal('0');
  const amount = decimal(request.amount);
  const needed = amount.plus(highestFee(entry, amount));
  if (available.gte(needed)) return undefined;
  return `the balance of ${toAmount(available)} ${currencyFrom} is less than ${toAmount(needed)} (with fees)`;
}

/** fixed + max(percent, min), of both sides where they are one currency: an upper estimate, whoever pays it. */
function highestFee(entry: RateEntry, amount: Big): Big {
  const side = (fixed: string | null, percent: string | null, min: string | null) => {
    const byPercent = amount.times(decimalOrZero(percent)).times('0.01');
    const least = decimalOrZero(min);
    return decimalOrZero(fixed).plus(byPercent.gt(least) ? byPercent : least);
  };
  const from = side(entry.fixed_fee_amount_from, entry.fee_percent_from, entry.min_fee_amount_from);
  if (entry.currency_from !== entry.currency_to) return from;
  return from.plus(side(entry.fixed_fee_amount_to, entry.fee_percent_to, entry.min_fee_amount_to));
}
