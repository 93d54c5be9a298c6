import { activityInfo, getClient, heartbeat, sleep } from '@temporalio/activity';
import type { ReportFile } from '../../contract/batch/batch.js';
import {
  AGREED_CLASSES,
  DISAGREEING_CLASSES,
  type Finding,
  MAX_SHOWN,
  type ReconcileAccountInput,
  type ReconcileClass,
  type ReconcileProgress,
  type ReconcileResult,
} from '../../contract/reconcile/reconcile.js';
import { openCsvReport, openJsonReport } from '../../reports/formats.js';
import type { ActivityDeps } from '../deps.js';
import { noReading, retryLater } from '../failures.js';
import { PacedReads } from '../paced-reads.js';
import { type Proof, prove } from './balance-chain.js';
import { type Carried, type CarriedComparison, carriedBalances, compareCarried } from './carried-balances.js';
import { findings } from './findings.js';
import { type Reconciliation, type Scan, scan } from './scan.js';

const HEARTBEAT_EVERY_MS = 2_000;
/** Time until a second scan: one that lags behind has caught up, and the clock's second is another one. */
const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [2_000, 30_000];
/** Classes of orders that need no line in the report. */
const SILENT: readonly ReconcileClass[] = ['equal', 'open', 'noOrder'];

/** Compares orders, workflows and balance changes, starts followers, wakes workflows; moves no money, may be repeated. */
export function reconcileAccountActivity(deps: ActivityDeps) {
  return async function reconcileAccount(input: ReconcileAccountInput): Promise<ReconcileResult> {
    const account = deps.accounts.get(input.account);
    // The queue is shared by all workers: another one may serve the account.
    if (!account) throw noReading(`this worker does not serve the account ${input.account}; another one has to`);
    const progress = { step: 'starting', seen: 0, windows: 0 };
    const work = { account, client: getClient(), reads: new PacedReads(account), input, progress };
    const beat = setInterval(() => heartbeat({ ...progress } satisfies ReconcileProgress), HEARTBEAT_EVERY_MS);
    try {
      const { found, proof } = await scanUntilProven(work, deps.pace.confirmDelayMs);
      return await conclude(deps, work, found, proof);
    } catch (error) {
      throw retryLater(error);
    } finally {
      clearInterval(beat);
    }
  };
}

/** Money moves while a scan goes on: a gap counts only when a second scan finds it, too. */
async function scanUntilProven(
  work: Reconciliation,
  confirmDelayMs: number,
): Promise<{ found: Scan; proof: Proof & CarriedComparison }> {
  const first = await scan(work);
  const carried = await carriedBalances(work.client, work.input.account, first.atMs);
  const proof = compared(carried, work, first);
  if (proof.gaps.length === 0) return { found: first, proof };
  work.progress.step = 'waiting before a second look at gaps between balances';
  await sleep(Math.min(Math.max(confirmDelayMs, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS));
  const second = await scan(work);
  return { found: second, proof: compared(carried, work, second, proof.newest) };
}

/** What a scan proves by itself and beside what an earlier run left. */
function compared(
  carried: Carried,
  { input }: Reconciliation,
  found: Scan,
  until?: ReadonlyMap<string, string>,
): Proof & CarriedComparison {
  const proof = prove(found, input, until);
  const comparison = compareCarried(carried, proof.now, input, found.atMs);
  return { ...proof, ...comparison, gaps: [...proof.gaps, ...comparison.gaps] };
}

async function conclude(
  { directories }: ActivityDeps,
  work: Reconciliation,
  found: Scan,
  { chains, gaps, balances, notes }: Proof & CarriedComparison,
): Promise<ReconcileResult> {
  const { input, progress } = work;
  const { view } = found;
  progress.step = 'comparing';
  const classes = noneYet();
  const rows: Finding[] = [];
  for await (const row of findings(work, found)) {
    classes[row.class] += 1;
    if (!SILENT.includes(row.class)) rows.push(row);
  }
  rows.sort(byGravity);
  if (!found.balances)
    view.notes.add('the service showed no balances: the end of the balance changes was not compared');
  const whole = {
    account: input.account,
    from: new Date(input.fromMs).toISOString(),
    to: new Date(input.toMs).toISOString(),
    seen: view.orders.size,
    windows: progress.windows,
    classes,
    malformed: view.malformed,
    malformedCount: view.malformed.length,
    gaps,
    gapCount: gaps.length,
    chains,
    balances,
    notes: [...view.notes, ...notes],
  };
  progress.step = 'writing the report';
  const reportDir = directories?.reportDir;
  const files = reportDir ? await writeReports(reportDir, reportName(input.account), rows, whole) : {};
  return {
    ...whole,
    disagreements: rows.filter((row) => gravityOf(row) >= 0).slice(0, MAX_SHOWN),
    malformed: whole.malformed.slice(0, MAX_SHOWN),
    gaps: gaps.slice(0, MAX_SHOWN),
    notes: whole.notes.slice(0, MAX_SHOWN),
    ...files,
  };
}

/** Rank of a row's class among the disagreements, 0 = the gravest; −1: none. */
const gravityOf = ({ class: name }: Finding): number =>
  (DISAGREEING_CLASSES as readonly ReconcileClass[]).indexOf(name);

/** A thousand orders of somebody else must not hide the one that was paid twice. */
const byGravity = (a: Finding, b: Finding): number => gravityOf(a) - gravityOf(b);

const noneYet = (): Record<ReconcileClass, number> => {
  const none = [...AGREED_CLASSES, ...DISAGREEING_CLASSES].map((name) => [name, 0]);
  return Object.fromEntries(none) as Record<ReconcileClass, number>;
};

/** The same for every attempt, so that one that is begun anew replaces the file. */
const reportName = (account: string): string =>
  `reconcile-${account}-${new Date(activityInfo().scheduledTimestampMs).toISOString().replace(/[:.]/g, '-')}`;

const COLUMNS = ['class', 'order_id', 'order_uuid', 'order_type', 'status', 'verdict', 'detail'] as const;

/** Writes the rows and everything found beside them as JSON, and the rows as CSV. */
async function writeReports(
  reportDir: string,
  name: string,
  rows: readonly Finding[],
  result: Omit<ReconcileResult, 'disagreements'>,
): Promise<{ report: ReportFile; csv: ReportFile }> {
  const { account, from, to, ...found } = result;
  const json = await openJsonReport(reportDir, `${name}.json`, { account, from, to });
  const csv = await openCsvReport(reportDir, `${name}.csv`, COLUMNS);
  try {
    for (const row of rows) {
      await json.add(row);
      await csv.add({ ...row });
    }
    return { report: await json.finish(found), csv: await csv.finish() };
  } finally {
    await json.discard();
    await csv.discard();
  }
}
