import type Big from 'big.js';
import { decimalOrZero } from '../contract/money.js';
import type { Balance } from '../contract/service-objects.js';
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

/** fixed + max(percent, min): what the service takes of an amount, before it rounds. */
export function commission(amount: Big, fixed: string | null, percent: string | null, min: string | null): Big {
  const byPercent = amount.times(decimalOrZero(percent)).times('0.01');
  const least = decimalOrZero(min);
  return decimalOrZero(fixed).plus(byPercent.gt(least) ? byPercent : least);
}
