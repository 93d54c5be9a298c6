import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Circumstances, Payers } from '../../contract/order/activities.js';
import { type Elsewhere, elsewhere, MAX_PINNED_WALLETS, type SentTo } from '../../contract/order/sent-to.js';
import { type Account, type ActivityDeps, onlyByCommand } from '../deps.js';
import { readBalances } from './balances.js';

/** Longest wait for balances before a create; without wallets the order is pinned by the key's fingerprint alone. */
const WALLETS_TIMEOUT_MS = 3_000;

/** What this worker asks and sends to now, as orders are pinned to it. */
export const sentToOf = ({ endpoint, keyFingerprint, seenWallets }: Account): SentTo => ({
  endpoint,
  ...(seenWallets && { wallets: [...seenWallets].sort().slice(0, MAX_PINNED_WALLETS) }),
  key: keyFingerprint,
});

/** What a create or a look-up answers beside what it found: pace and run, where it asked, and who pays the commissions. */
export function circumstancesOf(deps: ActivityDeps, account: Account, payers?: Payers): Circumstances {
  const only = onlyByCommand(deps, account.name);
  return {
    pace: deps.pace,
    runId: activityInfo().workflowExecution?.runId,
    sentTo: sentToOf(account),
    ...(only && { onlyByCommand: only }),
    ...(payers && { payers }),
  };
}

/** Reads the account's wallets before the first create of this process, once for all that wait for it. Never fails. */
export async function learnWallets(account: Account): Promise<void> {
  if (account.seenWallets) return;
  const forget = () => {
    account.learning = undefined;
  };
  account.learning ??= readBalances(account, { timeoutMs: WALLETS_TIMEOUT_MS }).then(forget, forget);
  await account.learning;
}

/**
 * What speaks against this being the account that an order was sent to; undefined = shown to be the same one, or not known
 * where it was sent. `anew`: what this worker saw of it earlier is not enough. Throws what the balances do.
 */
export async function elsewhereOf(
  account: Account,
  sentTo: SentTo | undefined,
  { anew = false }: { anew?: boolean } = {},
): Promise<Elsewhere | undefined> {
  if (!sentTo) return undefined;
  const shown = sentTo.wallets?.length ? await shownWallets(account, sentTo, sentTo.wallets, anew) : [];
  return elsewhere(sentTo, sentToOf(account), shown, account.name);
}

/** True when the last balances answer that this worker got shows all of these wallets. */
const hasSeen = ({ seenWallets = [] }: Account, wallets: readonly string[]): boolean =>
  wallets.every((wallet) => seenWallets.includes(wallet));

async function shownWallets(
  account: Account,
  sentTo: SentTo,
  wallets: readonly string[],
  anew: boolean,
): Promise<readonly string[] | undefined> {
  if (!anew && hasSeen(account, wallets)) return account.seenWallets;
  try {
    await readBalances(account);
    return account.seenWallets;
  } catch (error) {
    // Where endpoint and key are the order's, a failing read is only that. Elsewhere it may fail for ever, and is told.
    if (sentTo.endpoint === account.endpoint && sentTo.key === account.keyFingerprint) throw error;
    return undefined;
  }
}

const ELSEWHERE = 'Elsewhere';

/** The account asked is not shown to be the order's: no reading, ask again. `why` says what has to be set back. */
export const failedElsewhere = (why: string): ApplicationFailure =>
  ApplicationFailure.create({ type: ELSEWHERE, message: why });

/** True for a failure that `failedElsewhere` made. */
export const isElsewhere = (error: unknown): boolean => error instanceof ApplicationFailure && error.type === ELSEWHERE;

/** Ends an attempt of a read without a reading where the account asked is not shown to be the order's. */
export async function refuseElsewhere(account: Account, sentTo: SentTo | undefined): Promise<void> {
  const found = await elsewhereOf(account, sentTo);
  if (found) throw failedElsewhere(found.why);
}

/** True where not even our `order_uuid` in an answer proves anything: another environment may show it in another state. */
export const isOtherEndpoint = ({ endpoint }: Account, sentTo: SentTo | undefined): boolean =>
  sentTo !== undefined && sentTo.endpoint !== endpoint;
