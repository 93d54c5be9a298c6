import type { Client } from '@temporalio/client';
import { WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { quoted } from '../../client/list-orders.js';
import { whyUnreadable } from '../../client/standing.js';
import { callTemporal } from '../../client/temporal-calls.js';
import { RECONCILE_WORKFLOW, searchAttribute } from '../../contract/names.js';
import type { CarriedBalance, ReconcileResult } from '../../contract/reconcile/reconcile.js';

/** Balances by currency, as an earlier run left them. */
export type Carried = ReadonlyMap<string, CarriedBalance>;

/** Earlier runs whose result is looked at, the newest first: those of an older version or under a lost key carry nothing. */
const RUNS_LOOKED_AT = 20;

/**
 * What the last reconciliation of the account that ended before this time left to this one: its result is kept in Temporal for as long as
 * closed workflows are. Empty for the first run, after the retention and after a loss of Temporal's database.
 */
export async function carriedBalances(client: Client, account: string, beforeMs: number): Promise<Carried> {
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
    if (balances) return new Map(balances.map((balance) => [balance.currency, balance]));
  }
  return new Map();
}

async function balancesLeftBy(client: Client, workflowId: string, runId: string) {
  try {
    const handle = client.workflow.getHandle<() => Promise<ReconcileResult>>(workflowId, runId);
    return (await callTemporal(client, () => handle.result())).balances;
  } catch (error) {
    // Removed by the retention a moment ago, reset, or not to be read by this worker.
    const isGone = error instanceof WorkflowNotFoundError || error instanceof WorkflowFailedError;
    if (isGone || whyUnreadable(error) !== undefined) return undefined;
    throw error;
  }
}
