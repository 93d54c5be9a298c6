import { Runtime } from '@temporalio/worker';
import type { Account } from '../activities/index.js';
import { sentToOf } from '../activities/order/sent-to.js';
import type { AccountConfig, Capacity, WorkerConfig, WorkerKeys } from '../config.js';
import { fingerprintOf, isSameAccount } from '../contract/order/sent-to.js';
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
  if (withoutKeys(read.accounts) !== withoutKeys(configured)) {
    return ['settings of accounts have changed in more than keys: restart the worker, or put the rest back'];
  }
  callback?.tokenKeys.splice(0, callback.tokenKeys.length, ...(read.callback?.tokenKeys ?? callback.tokenKeys));
  const problems = await Promise.all(
    [...read.accounts.values()].map((account) => takePair(accounts, account, capacity)),
  );
  return problems.filter((problem) => problem !== undefined);
}

/** The settings of accounts without what belongs to a key: predecessors change with it. */
const withoutKeys = (accounts: WorkerConfig['accounts']): string =>
  JSON.stringify([...accounts].map(([, account]) => ({ ...account, predecessors: undefined })));

async function takePair(
  accounts: Map<string, Account>,
  read: AccountConfig,
  capacity: Capacity = {},
): Promise<string | undefined> {
  const current = accounts.get(read.name);
  const { id, predecessors } = pinOfConfig(read);
  if (!current || (current.id === id && `${current.predecessors}` === `${predecessors}`)) return undefined;
  const next = await openAccount(read, capacity, current.limiter);
  const problem = await whyNot(current, next);
  if (problem) return `account ${read.name}: the keys that were read anew are not used, ${problem}`;
  accounts.set(read.name, next);
  Runtime.instance().logger.info(`account ${read.name} signs with the keys that were read anew`);
  return undefined;
}

/**
 * Returns why a new pair is not used. It must be named the successor of the present key, since a changed file must not make
 * another account pay; and the service must accept it, so that a key is never used with another key's secret.
 */
async function whyNot(current: Account, next: Account): Promise<string | undefined> {
  if (!isSameAccount(sentToOf(current), next)) {
    const list = 'PAYMENT_API_KEY_PREDECESSORS_FILE, or apiKeyPredecessors in the accounts file';
    return `since they do not name the present key. If the key was rotated, list ${fingerprintOf(current.id)} in ${list}: only a restart changes the account`;
  }
  try {
    await next.service.balances({ timeoutMs: BALANCES_TIMEOUT_MS });
    return undefined;
  } catch (error) {
    const { name, status } = error as { name: string; status?: number };
    return `since balances cannot be read with them (${status === undefined ? name : `HTTP ${status}`})`;
  }
}
