import { Runtime } from '@temporalio/worker';
import type { Account } from '../activities/index.js';
import { readBalances } from '../activities/order/balances.js';
import { sentToOf } from '../activities/order/sent-to.js';
import type { AccountConfig, Capacity, WorkerConfig, WorkerKeys } from '../config.js';
import { elsewhere } from '../contract/order/sent-to.js';
import { pinOfConfig } from '../preflight/open-service.js';
import { openAccount } from './accounts.js';

/** Longest wait for the balances that show what a new pair of keys is good for. */
const BALANCES_TIMEOUT_MS = 10_000;

/** Tells two readings of a worker's keys apart. Holds keys: for comparing only. */
export const markOfKeys = ({ accounts, callback }: WorkerKeys): string =>
  JSON.stringify([
    [...accounts],
    [...accounts.values()].map((account) => pinOfConfig(account)),
    callback?.tokenKeys.join(),
  ]);

/**
 * Uses keys that were read anew: whatever begins from now on has an account with the new pair as a whole, what is under way ends
 * with the pair it began with. Answers which keys are not used, and why; shows none.
 */
export async function takeKeys(
  { accounts: configured, callback, capacity }: WorkerConfig,
  accounts: Map<string, Account>,
  read: WorkerKeys,
): Promise<readonly string[]> {
  // Secrets show as placeholders: a new key beside a new URL, say, is meant for that one alone.
  if (JSON.stringify([...read.accounts]) !== JSON.stringify([...configured])) {
    return ['settings of accounts have changed in more than keys: restart the worker, or put the rest back'];
  }
  callback?.tokenKeys.splice(0, callback.tokenKeys.length, ...(read.callback?.tokenKeys ?? callback.tokenKeys));
  const problems = await Promise.all(
    [...read.accounts.values()].map((account) => takePair(accounts, account, capacity)),
  );
  return problems.filter((problem) => problem !== undefined);
}

async function takePair(
  accounts: Map<string, Account>,
  read: AccountConfig,
  capacity: Capacity = {},
): Promise<string | undefined> {
  const current = accounts.get(read.name);
  if (!current || current.keyFingerprint === pinOfConfig(read).keyFingerprint) return undefined;
  const next = await openAccount(read, capacity, current.limiter);
  const problem = await whyNot(current, next);
  if (problem) return `account ${read.name}: the keys that were read anew are not used, ${problem}`;
  accounts.set(read.name, next);
  Runtime.instance().logger.info(`account ${read.name} signs with the keys that were read anew`);
  return undefined;
}

/**
 * What speaks against a new pair. The service itself must take it, so that a key never goes with another one's secret; and it must not
 * show another account than the pair before it: what was approved for the one is not paid from the other because a file was changed.
 */
async function whyNot(current: Account, next: Account): Promise<string | undefined> {
  try {
    await readBalances(next, { timeoutMs: BALANCES_TIMEOUT_MS });
  } catch (error) {
    const { name, status } = error as { name: string; status?: number };
    return `since balances cannot be read with them (${status === undefined ? name : `HTTP ${status}`})`;
  }
  // The old pair may have been taken back already: then what it showed last counts.
  await readBalances(current, { timeoutMs: BALANCES_TIMEOUT_MS }).catch(() => undefined);
  const found = elsewhere(sentToOf(current), sentToOf(next), next.seenWallets, next.name);
  return found && !found.confirmable
    ? 'since they show another account: only a restart changes the account'
    : undefined;
}
