import { activityInfo, getClient, heartbeat, sleep } from '@temporalio/activity';
import type { ReportFile } from '../../contract/batch/batch.js';
import {
  type Finding,
  MAX_SHOWN,
  type ReconcileAccountInput,
  type ReconcileProgress,
  type ReconcileResult,
} from '../../contract/reconcile/reconcile.js';
import { isMalformed } from '../../contract/service-objects.js';
import { serviceDateTime, smallPageNote } from '../../payment-service/paging.js';
import { openCsvReport, openJsonReport } from '../../reports/formats.js';
import type { Account, ActivityDeps } from '../deps.js';
import { noReading, retryLater } from '../failures.js';
import { lastHeartbeat } from '../last-heartbeat.js';
import { PacedReads } from '../paced-reads.js';
import { protectionsIn } from '../protections.js';
import { type Proof, prove } from './balance-chain.js';
import { BalanceFold, spelled } from './balance-fold.js';
import { type CarriedComparison, carriedBalances, compareCarried } from './carried-balances.js';
import { receiptsOf } from './followers.js';
import { addNote, isDisagreement, type Kept, MAX_ROWS, nothingYet, packed, unpacked } from './kept.js';
import { scan } from './passes.js';
import { type BalancesSeen, balancesOf, type Reconciliation, together } from './scan.js';
import { SeenIds } from './seen-ids.js';

const HEARTBEAT_EVERY_MS = 2_000;
/** What is kept is packed so often at most. */
const KEEP_EVERY_MS = 1_000;
/** Time until a second scan: one that lags behind has caught up, and the clock's second is another one. */
const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [2_000, 30_000];

/**
 * Compares orders, workflows and balance changes, starts followers, wakes workflows; moves no money, may be repeated. An
 * attempt goes on from what the one before left in its heartbeat.
 */
export function reconcileAccountActivity(deps: ActivityDeps) {
  return async function reconcileAccount(input: ReconcileAccountInput): Promise<ReconcileResult> {
    const account = deps.accounts.get(input.account);
    // The queue is shared by all workers: another one may serve the account.
    if (!account) throw noReading(`this worker does not serve the account ${input.account}; another one has to`);
    const progress: ReconcileProgress = { step: 'starting', seen: 0, windows: 0 };
    const beat = setInterval(() => heartbeat({ ...progress } satisfies ReconcileProgress), HEARTBEAT_EVERY_MS);
    try {
      const work = await begin(deps, account, input, progress);
      const found = await scanUntilProven(work, protectionsIn(deps, account).pace.confirmDelayMs);
      return await conclude(deps, work, found);
    } catch (error) {
      throw retryLater(error);
    } finally {
      clearInterval(beat);
    }
  };
}

/** Takes up what an attempt before left, or begins. */
async function begin(deps: ActivityDeps, account: Account, input: ReconcileAccountInput, progress: ReconcileProgress) {
  const left = lastHeartbeat<Partial<ReconcileProgress>>()?.kept;
  const tools = { account, client: getClient(), reads: new PacedReads(account), input, progress };
  const kept = unpacked(left) ?? (await firstScan(tools));
  Object.assign(progress, { seen: kept.seen, windows: kept.windows, kept: packed(kept) });
  const work = { ...tools, kept, keep: keeper(kept, progress), ids: new SeenIds(), fold: foldOf(input, kept) };
  return { ...work, receiptOf: receiptsOf(work, deps.callback?.tokenKeys) };
}

async function firstScan(tools: Pick<Reconciliation, 'account' | 'client' | 'reads' | 'input' | 'progress'>) {
  const atMs = Date.now();
  const before = await balancesOf(tools);
  const carried = await carriedBalances(tools.client, tools.input.account, atMs);
  return nothingYet({ atMs, nextMs: 0, carried: [...carried.values()], ...(before && { before }) });
}

/** Packs what is kept for the next heartbeat: at a new phase, and now and then. */
function keeper(kept: Kept, progress: ReconcileProgress): () => void {
  let phase = kept.phase;
  let dueMs = 0;
  return () => {
    if (phase === kept.phase && Date.now() < dueMs) return;
    phase = kept.phase;
    dueMs = Date.now() + KEEP_EVERY_MS;
    progress.kept = packed(kept) ?? progress.kept;
  };
}

function foldOf({ fromMs, toMs, untilNow }: ReconcileAccountInput, { currencies, carried, until }: Kept): BalanceFold {
  const to = untilNow ? undefined : serviceDateTime(toMs);
  const amounts = new Map(carried.map(({ currency, amount }) => [currency, spelled(amount)]));
  return new BalanceFold({ from: serviceDateTime(fromMs), to, until, carried: amounts }, currencies);
}

/** What a scan proves by itself and beside what an earlier run left; `balances` absent: the service showed none. */
type Found = Proof & CarriedComparison & { compared?: BalancesSeen };

/** Money moves while a scan goes on: a gap counts only when a second scan finds it, too. */
async function scanUntilProven(work: Reconciliation, confirmDelayMs: number): Promise<Found> {
  await scan(work);
  const found = await compared(work);
  const { kept } = work;
  if (found.gaps.length === 0 || kept.second) return found;
  work.progress.step = 'waiting before a second look at gaps between balances';
  await sleep(Math.min(Math.max(confirmDelayMs, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS));
  const atMs = Date.now();
  const before = await balancesOf(work);
  const until = Object.fromEntries(Object.entries(kept.currencies).map(([name, { newest }]) => [name, newest]));
  const again = {
    phase: 'earlier',
    second: true,
    atMs,
    before,
    until,
    currencies: {},
    handled: [],
  } satisfies Partial<Kept>;
  Object.assign(kept, again, { edge: { at: '', uuids: [] } });
  work.keep();
  const second = { ...work, fold: foldOf(work.input, kept) };
  await scan(second);
  return compared(second);
}

async function compared(work: Reconciliation): Promise<Found> {
  const { kept, input, fold } = work;
  const after = await balancesOf(work);
  const unreadable = Object.entries(after ?? {}).flatMap(([currency, entry]) => (isMalformed(entry) ? [currency] : []));
  if (unreadable.length > 0) addNote(kept, `balances that cannot be read were not compared: ${unreadable.join(', ')}`);
  const seen = together(kept.before, after);
  const proof = prove(fold, seen, input);
  const carried = new Map(kept.carried.map((balance) => [balance.currency, balance]));
  const comparison = compareCarried(carried, proof.now, input, kept.atMs);
  return {
    ...proof,
    ...comparison,
    gaps: [...proof.gaps, ...comparison.gaps],
    gapCount: proof.gapCount + comparison.gaps.length,
    ...(seen && { compared: seen }),
  };
}

async function conclude({ directories }: ActivityDeps, work: Reconciliation, found: Found): Promise<ReconcileResult> {
  const { input, progress, kept } = work;
  if (!found.compared) addNote(kept, NO_BALANCES);
  for (const { small } of [work.account.service.orders().sizes, work.account.service.addresses().sizes]) {
    if (small) addNote(kept, smallPageNote(small));
  }
  if (kept.rowCount > MAX_ROWS) addNote(kept, leftOut(kept.rowCount));
  const whole = {
    account: input.account,
    from: new Date(input.fromMs).toISOString(),
    to: new Date(input.toMs).toISOString(),
    seen: kept.seen,
    windows: kept.windows,
    classes: kept.classes,
    malformed: kept.malformed,
    malformedCount: kept.malformedCount,
    gaps: found.gaps,
    gapCount: found.gapCount,
    chains: found.chains,
    balances: found.balances,
    notes: [...kept.notes, ...found.notes],
  };
  progress.step = 'writing the report';
  const reportDir = directories?.reportDir;
  const files = reportDir ? await writeReports(reportDir, reportName(input.account), kept.rows, whole) : {};
  return {
    ...whole,
    disagreements: kept.rows.filter(isDisagreement).slice(0, MAX_SHOWN),
    malformed: whole.malformed.slice(0, MAX_SHOWN),
    gaps: whole.gaps.slice(0, MAX_SHOWN),
    notes: whole.notes.slice(0, MAX_SHOWN),
    ...files,
  };
}

const NO_BALANCES = 'the service showed no balances: the end of the balance changes was not compared';

const leftOut = (rows: number): string =>
  `the report holds the ${MAX_ROWS} gravest of ${rows} rows; a shorter --from to --to shows the others`;

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
