import { getClient } from '@temporalio/activity';
import { type Client, WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { resultOfRun } from '../../client/history.js';
import type { ReconcileWorkflow } from '../../client/reconcile.js';
import { whyUnreadable } from '../../client/standing.js';
import { callTemporal } from '../../client/temporal-calls.js';
import { quoted, RECONCILE_WORKFLOW, searchAttribute } from '../../contract/names.js';
import type {
  BalancesBefore,
  BalancesRead,
  Proof,
  ReconcileTask,
  ReconcileTotals,
} from '../../contract/reconcile/days.js';
import type { CarriedBalance } from '../../contract/reconcile/reconcile.js';
import type { Balances } from '../../contract/service-objects.js';
import { PaymentServiceError } from '../../payment-service/errors.js';
import type { ActivityDeps } from '../deps.js';
import type { PacedReads } from '../paced-reads.js';
import { protectionsIn } from '../protections.js';
import { forAccount } from './for-account.js';
import { prove } from './prove.js';

/** Earlier runs whose result is looked at, the newest first: those of an older version or under a lost key carry nothing. */
const RUNS_LOOKED_AT = 20;
/** Time until a second reading: what lagged behind has caught up, and the clock's second is another one. */
const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [2_000, 30_000];

/** Reads the balances before the orders, and those that an earlier run carried over. */
export const readBalancesActivity =
  (deps: ActivityDeps) =>
  (input: ReconcileTask & { atMs: number; totals: ReconcileTotals }): Promise<BalancesBefore> =>
    forAccount(deps, input, async ({ reads, progress }) => {
      progress.step = 'reading balances';
      const before = await balancesNow(reads);
      return { carried: await carriedBalances(getClient(), input.account, input.atMs), ...(before && { before }) };
    });

/** Reads the balances after the orders, and compares all that was read. */
export const proveBalancesActivity =
  (deps: ActivityDeps) =>
  (input: BalancesRead): Promise<Proof> =>
    forAccount(deps, input, async ({ account, reads, progress }) => {
      progress.step = 'comparing balances';
      const { confirmDelayMs } = protectionsIn(deps, account).pace;
      const againMs = Math.min(Math.max(confirmDelayMs, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
      return { ...prove(input, await balancesNow(reads)), againMs };
    });

/** Balances are a help and no condition: without an answer they are not compared. */
async function balancesNow(reads: PacedReads): Promise<Balances | undefined> {
  try {
    return await reads.ask((service, options) => service.balances(options));
  } catch (error) {
    if (error instanceof PaymentServiceError) return undefined;
    throw error;
  }
}

/** What the last reconciliation that ended before this time left; empty where none did, or Temporal keeps it no more. */
async function carriedBalances(client: Client, account: string, beforeMs: number): Promise<CarriedBalance[]> {
  const query = [
    `WorkflowType = ${quoted(RECONCILE_WORKFLOW)}`,
    `${searchAttribute.account.name} = ${quoted(account)}`,
    "ExecutionStatus = 'Completed'",
    `CloseTime <= '${new Date(beforeMs).toISOString()}'`,
  ].join(' AND ');
  const runs = await callTemporal(client, async () => {
    const found = [];
    for await (const run of client.workflow.list({ query, pageSize: RUNS_LOOKED_AT })) {
      found.push(run);
      if (found.length >= RUNS_LOOKED_AT) break;
    }
    return found.sort((a, b) => (b.closeTime?.getTime() ?? 0) - (a.closeTime?.getTime() ?? 0));
  });
  for (const { workflowId, runId } of runs) {
    const balances = await balancesLeftBy(client, workflowId, runId);
    if (balances) return balances;
  }
  return [];
}

async function balancesLeftBy(client: Client, workflowId: string, runId: string) {
  try {
    return (await callTemporal(client, () => resultOfRun<ReconcileWorkflow>(client, workflowId, runId))).balances;
  } catch (error) {
    // Removed by the retention a moment ago, reset, or not to be read by this worker.
    const isGone = error instanceof WorkflowNotFoundError || error instanceof WorkflowFailedError;
    if (isGone || whyUnreadable(error) !== undefined) return undefined;
    throw error;
  }
}
