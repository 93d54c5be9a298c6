import { type Client, WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { resultOfRun } from '../../client/history.js';
import type { ReconcileWorkflow } from '../../client/reconcile.js';
import { whyUnreadable } from '../../client/standing.js';
import { callTemporal } from '../../client/temporal-calls.js';
import { type Amount, decimal, toAmount } from '../../contract/money.js';
import { quoted, RECONCILE_WORKFLOW, searchAttribute } from '../../contract/names.js';
import { AHEAD_OF_UTC_MS, DEFAULT_WINDOW_MS } from '../../contract/reconcile/input.js';
import type {
  BalanceGap,
  CarriedBalance,
  ReconcileAccountInput,
  ReconcileResult,
} from '../../contract/reconcile/reconcile.js';
import type { Chain } from './balance-chain.js';
import { gapOf, type Missing, spelled } from './balance-fold.js';

/** Balances by currency, as an earlier run left them. */
export type Carried = ReadonlyMap<string, CarriedBalance>;

/** Earlier runs whose result is looked at, the newest first: those of an older version or under a lost key carry nothing. */
const RUNS_LOOKED_AT = 20;

/** What the last reconciliation that ended before this time left; empty where none did, or Temporal keeps it no more. */
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
    return (await callTemporal(client, () => resultOfRun<ReconcileWorkflow>(client, workflowId, runId))).balances;
  } catch (error) {
    // Removed by the retention a moment ago, reset, or not to be read by this worker.
    const isGone = error instanceof WorkflowNotFoundError || error instanceof WorkflowFailedError;
    if (isGone || whyUnreadable(error) !== undefined) return undefined;
    throw error;
  }
}

/** Everything known about the balances when a scan is over. */
export interface BalancesNow {
  /** Of currencies with changes in the window. */
  chains: readonly Chain[];
  /** Those whose changes pass through the carried balance. */
  passing: ReadonlySet<string>;
  /** Balances that stood still during the scan, a debt below 0. */
  shown: ReadonlyMap<string, Amount>;
  /** Currencies that the service shows, or that moved while they were read. */
  known: ReadonlySet<string>;
  /** Currencies in which a chain does not end at the balance, or that moved since an earlier scan. */
  open: ReadonlySet<string>;
}

/** What comparing with an earlier run shows, and what to leave to the next one. */
export type CarriedComparison = Required<Pick<ReconcileResult, 'gaps' | 'notes' | 'balances'>>;

/**
 * Compares every balance with the one that an earlier run carried over. Without a change in between it must be the same,
 * and with changes the carried one must be one of the balances that their chain passes through: what is missing before the
 * first change shows nowhere else. `atMs`: begin of the scan. `now` absent: nothing is compared, all is carried on.
 *
 * A difference is told for as long as the window reaches back to the carried balance, like a gap within a chain. Later it
 * is noted once, because changes in between were not read, and the balance of now is carried on.
 */
export function compareCarried(
  carried: Carried,
  now: BalancesNow | undefined,
  { fromMs }: Pick<ReconcileAccountInput, 'fromMs'>,
  atMs: number,
): CarriedComparison {
  if (!now) return { gaps: [], notes: [], balances: [...carried.values()] };
  const first = [...now.known].filter((currency) => !carried.has(currency)).sort();
  const quiet = first.filter((currency) => !now.chains.some((chain) => chain.currency === currency));
  const compared = [...carried.values()].map((earlier) => compareOne(earlier, now, fromMs, atMs));
  return {
    gaps: compared.flatMap(({ gap }) => gap ?? []),
    notes: [
      ...compared.flatMap(({ note }) => note ?? []),
      ...(quiet.length > 0 ? [`no change and no earlier run to compare with: ${quiet.join(', ')}`] : []),
    ],
    balances: [
      ...compared.map(({ balance }) => balance),
      ...first.flatMap((currency) => provenNow(currency, now, atMs) ?? []),
    ],
  };
}

/** One balance with its carried one; `balance` is for the next run. */
function compareOne(
  earlier: CarriedBalance,
  now: BalancesNow,
  fromMs: number,
  atMs: number,
): { gap?: BalanceGap; note?: string; balance: CarriedBalance } {
  const { currency, at } = earlier;
  const difference = differenceOf(earlier, now);
  if (!difference) return { balance: provenNow(currency, now, atMs) ?? earlier };
  const { now: untilNow } = difference;
  const sinceMs = Date.parse(at);
  if (sinceMs >= fromMs + AHEAD_OF_UTC_MS) {
    const gap = { ...gapOf(currency, difference), since: at, ...(untilNow && { now: untilNow }) };
    return { gap, balance: earlier };
  }
  const isOld = atMs - sinceMs > DEFAULT_WINDOW_MS;
  return { note: unread(earlier), balance: (isOld && provenNow(currency, now, atMs)) || earlier };
}

/** What the service shows of a currency; one that it leaves out is empty. Undefined while it moves. */
const shownOf = (currency: string, { known, shown }: BalancesNow): Amount | undefined =>
  known.has(currency) ? shown.get(currency) : '0';

function provenNow(currency: string, now: BalancesNow, atMs: number): CarriedBalance | undefined {
  const amount = shownOf(currency, now);
  if (amount === undefined || now.open.has(currency)) return undefined;
  return { currency, amount, at: new Date(atMs).toISOString() };
}

/** Where a balance can no longer be the carried one with the changes that were seen; undefined = it can, or moves. */
function differenceOf(
  { currency, amount }: CarriedBalance,
  now: BalancesNow,
): (Missing & Pick<BalanceGap, 'now'>) | undefined {
  const after = spelled(amount);
  const shown = shownOf(currency, now);
  const chain = now.chains.find((one) => one.currency === currency);
  if (chain) {
    return now.passing.has(currency) ? undefined : { after, before: chain.start };
  }
  if (shown === undefined || now.open.has(currency) || decimal(shown).eq(decimal(after))) return undefined;
  return { after, before: toAmount(decimal(shown)), now: true };
}

function unread({ currency, amount, at }: CarriedBalance): string {
  const from = new Date(Date.parse(at) - AHEAD_OF_UTC_MS).toISOString();
  return `${currency}: no longer ${amount} as at ${at}; what changed since then was not read, --from ${from} reads it`;
}
