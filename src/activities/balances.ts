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

/**
 * True when a balances answer of now lacks one of these wallets: the key is another account's, or the host another
 * environment's. Wallets are added in the course of time, so that what this worker saw earlier proves nothing.
 */
export async function lacksWallets(account: Account, wallets: readonly string[]): Promise<boolean> {
  await readBalances(account);
  return !hasSeen(account, wallets);
}

/** True when the last balances answer that this worker got shows all of these wallets. */
export const hasSeen = ({ seenWallets = [] }: Account, wallets: readonly string[]): boolean =>
  wallets.every((wallet) => seenWallets.includes(wallet));

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

/** fixed + max(percent, min): what the service takes of an amount, before it rounds. */
export function commission(amount: Big, fixed: string | null, percent: string | null, min: string | null): Big {
  const byPercent = amount.times(decimalOrZero(percent)).times('0.01');
  const least = decimalOrZero(min);
  return decimalOrZero(fixed).plus(byPercent.gt(least) ? byPercent : least);
}

/** The commissions of both sides where they are one currency: an upper estimate, whoever pays them. */
function highestFee(entry: RateEntry, amount: Big): Big {
  const from = commission(amount, entry.fixed_fee_amount_from, entry.fee_percent_from, entry.min_fee_amount_from);
  if (entry.currency_from !== entry.currency_to) return from;
  return from.plus(commission(amount, entry.fixed_fee_amount_to, entry.fee_percent_to, entry.min_fee_amount_to));
}
