import { type Account, GroupedLookUps } from '../../src/activities/index.js';
import type { AccountConfig } from '../../src/config.js';
import { openAccounts } from '../../src/worker/accounts.js';

/**
 * Accounts whose look-ups wait for nobody, as those of one order alone do: tests count the requests of an order while others run
 * beside it, and where time is skipped a look-up cannot wait in real time. `realTime: false`: nor do requests after "too many
 * requests", whose wait no skipped time ends.
 */
export async function openUngrouped(
  configs: ReadonlyMap<string, AccountConfig>,
  { realTime = true }: { realTime?: boolean } = {},
): Promise<Map<string, Account>> {
  const accounts = await openAccounts(configs);
  for (const account of accounts.values()) {
    account.lookUps = new GroupedLookUps(account.service, { mostWaiting: 1 });
    if (!realTime) account.limiter.slowDown = () => undefined;
  }
  return accounts;
}
