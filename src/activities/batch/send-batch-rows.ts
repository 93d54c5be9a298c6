import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, cancellationDetails, cancellationSignal, getClient, heartbeat } from '@temporalio/activity';
import { ActivityCancelledError, type Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { type BatchRow, nextOf, readBatchSource } from '../../batch-files/source.js';
import { OrderHandle } from '../../client/order-handle.js';
import type { SendBatchRowsAnswer, SendBatchRowsInput } from '../../contract/batch/activities.js';
import { type BatchInput, DEFAULT_IN_FLIGHT, isProgress } from '../../contract/batch/batch.js';
import type { ActivityDeps } from '../deps.js';
import { batchFailure } from '../failures.js';
import { lastHeartbeat } from '../only-attempt.js';
import { beyondPlan, countStarted, countTaken, isTaken } from './rows/count.js';
import { type FirstRow, firstRowOf, KEPT_ROWS, mayGoFirst, recordFirst, whyNoneGoesFirst } from './rows/go-first.js';
import { askedForFunds, haltReason } from './rows/halt.js';
import { confirmReading } from './rows/reading.js';
import { ROWS_TO_CHOOSE_FROM, smallestOf } from './rows/smallest.js';
import { type BatchWork, type StartedRow, startRow } from './rows/start-row.js';
import { cancelShort, takeStarted, watchRows } from './rows/watch-rows.js';

/** Rows that start at the same time after one check whether the batch may continue. */
const ROWS_AT_ONCE = 20;
/** Interval of looks at open orders: longer while nothing changes. */
const WATCH_EVERY_MS = { shortest: 500, longest: 10_000 };
/** Interval of checks for a pause or stop while nothing can start. */
const ASK_EVERY_MS = 1_000;
const TURN_MS = 250;
/** Heartbeat interval, so that one silent order does not make this worker look dead. */
const BEAT_EVERY_MS = 3_000;
/** Validity of a check. A process that stood still must not send: the batch may be stopped. */
const CONFIRMED_FOR_MS = 5_000;
/** Time after a reset in which a chunk of the earlier run may still start rows. */
const LAST_STARTS_MS = 2 * CONFIRMED_FOR_MS;

interface Chunk extends BatchWork {
  deps: ActivityDeps;
  /** Rows after those taken; absent if none may be taken. */
  rows?: Iterator<BatchRow>;
  /** Rows that were read from it and not taken yet. */
  read: BatchRow[];
  /** Rows whose create the service has answered. */
  answered: Set<number>;
  nextWatchMs: number;
  watchEveryMs: number;
  confirmedAtMs: number;
  confirmedAtWallMs: number;
}

/** Starts and follows rows for a few seconds. A later attempt continues from the heartbeat. */
export function sendBatchRowsActivity(deps: ActivityDeps) {
  return async function sendBatchRows(batch: SendBatchRowsInput): Promise<SendBatchRowsAnswer> {
    const left = lastHeartbeat();
    // A foreign heartbeat counts as none: rows started since are attached to.
    const progress = isProgress(left) ? left : batch.progress;
    const times = { nextWatchMs: 0, watchEveryMs: WATCH_EVERY_MS.shortest, confirmedAtMs: 0, confirmedAtWallMs: 0 };
    const chunk: Chunk = { client: getClient(), deps, batch, progress, read: [], answered: new Set(), ...times };
    // Heartbeats through the worker, which drops answers of activities without heartbeats. Whether
    // this attempt counts is asked separately.
    const beat = setInterval(() => heartbeat(progress), BEAT_EVERY_MS);
    try {
      // The batch may have been paused or stopped since the copied task was made.
      if (await deps.isCopied?.()) throw ApplicationFailure.nonRetryable('scheduled again by something else', 'Copied');
      if (!progress.exhausted && batch.mode !== 'wait') {
        const source = await readBatchSource(deps.directories, batch.input, batch.plan);
        if (batch.mode === 'send') await confirmReading(source, batch.plan);
        chunk.rows = source.rows(progress.taken)[Symbol.iterator]();
      }
      return await work(chunk);
    } catch (error) {
      throw batchFailure(error);
    } finally {
      clearInterval(beat);
    }
  };
}

async function work(chunk: Chunk): Promise<SendBatchRowsAnswer> {
  const { batch, progress } = chunk;
  const endMs = performance.now() + batch.durationMs;
  if (!(await mayGoOn(chunk))) return { progress };
  const resetRun = resetRunOf(chunk);
  const isThrough = await takeUncounted(chunk, resetRun);
  // A reset run must not send: the earlier run may have been stopped, or have finished.
  if (resetRun) return { progress, ...(isThrough && { resetRun }) };
  for (;;) {
    await watchNowAndThen(chunk);
    const end = reasonToEnd(chunk);
    if (end) return { progress, ...end };
    if (performance.now() >= endMs) return { progress };
    const room = roomFor(chunk);
    if ((room > 0 || performance.now() - chunk.confirmedAtMs > ASK_EVERY_MS) && !(await mayGoOn(chunk))) {
      return { progress };
    }
    const pause = room > 0 && (await startRows(chunk, room));
    if (pause) return { progress, pause };
    if (room <= 0) await pauseFor(TURN_MS);
  }
}

/** Waits; the end of this attempt cuts the wait that it finds, and no later one. */
const pauseFor = (ms: number): Promise<void> => {
  const signal = cancellationSignal();
  return sleep(ms, undefined, signal.aborted ? {} : { signal }).catch(() => {});
};

/** Takes rows that were started but not counted, after a stop or reset; false if interrupted. */
async function takeUncounted(chunk: Chunk, resetRun: string | undefined): Promise<boolean> {
  const { batch, rows } = chunk;
  if (!rows || (!resetRun && batch.mode !== 'finish')) return true;
  // First, the earlier run's calls in flight must end.
  if (resetRun) await pauseFor(LAST_STARTS_MS);
  return (await mayGoOn(chunk)) && takeStarted(chunk, rows, () => mayGoOn(chunk));
}

/** Returns the asking run if a reset made it and rows may be left to send or find. */
function resetRunOf({ batch, rows }: Chunk): string | undefined {
  const runId = activityInfo().workflowExecution?.runId;
  return rows && runId !== batch.knownRun ? runId : undefined;
}

async function watchNowAndThen(chunk: Chunk): Promise<void> {
  const { progress } = chunk;
  const before = progress.open.length;
  const { shortest, longest } = WATCH_EVERY_MS;
  if (performance.now() < chunk.nextWatchMs) return;
  const uncertain = progress.uncertain ?? [];
  await watchRows(chunk);
  if (chunk.batch.mode === 'finish') await cancelShort(chunk);
  await watchFirst(chunk, uncertain);
  chunk.watchEveryMs = progress.open.length < before ? shortest : Math.min(longest, chunk.watchEveryMs * 1.2);
  chunk.nextWatchMs = performance.now() + chunk.watchEveryMs;
}

async function watchFirst(chunk: Chunk, before: readonly number[]): Promise<void> {
  const { deps, batch, progress, client } = chunk;
  const { first, uncertain = [] } = progress;
  const row = firstRowOf(progress);
  const left = leftOf(chunk);
  recordFirst(progress, {
    left,
    isUnanswered: left > 0 && left <= KEPT_ROWS && (await isUnanswered(chunk)),
    maxInFlight: mostInFlight(batch.input),
    nowMs: Date.now(),
    windowMs: deps.pace.settleWindowMs.atOnce,
    isNewlyUncertain: uncertain.some((row) => !before.includes(row)),
    row: row === 'moving' && first?.orderId ? await readFirst(client, batch.account, first.orderId) : row,
  });
}

/** Rows that were not started. */
const leftOf = ({ batch, progress: { taken, ahead = [] } }: Chunk): number => batch.plan.rows - taken - ahead.length;

/** Returns true if a create of an open row is under way. */
async function isUnanswered({ client, batch, progress, answered }: Chunk): Promise<boolean> {
  const { uncertain = [], short = [] } = progress;
  for (const { row, orderId } of progress.open) {
    if (answered.has(row) || uncertain.includes(row) || short.includes(row)) continue;
    if ((await readFirst(client, batch.account, orderId)) === 'moving') return true;
    answered.add(row);
  }
  return false;
}

/** Reads whether the service has answered a row's create. */
async function readFirst(client: Client, account: string, orderId: string): Promise<FirstRow> {
  try {
    const { order, phase, waitingFor } = await new OrderHandle(client, account, orderId).state();
    if (order) return 'clear';
    // It waits for funds or a person's approval, for example.
    return phase === 'parked' || waitingFor.startsWith('funds') ? 'unsent' : 'moving';
  } catch {
    return 'moving';
  }
}

const mostInFlight = ({ maxInFlight = DEFAULT_IN_FLIGHT }: BatchInput): number => maxInFlight;

/** Returns why the chunk ends early. Records why it sends nothing for now. */
function reasonToEnd({ batch, progress }: Chunk): Omit<SendBatchRowsAnswer, 'progress'> | undefined {
  progress.held = undefined;
  const maySend = batch.mode === 'send' && !progress.exhausted;
  // Rows that wait for funds are sent once these come, also while paused and after the last row.
  const waits = batch.mode !== 'finish' && progress.short?.length;
  const halt = maySend || waits ? haltReason(batch.input, progress, Date.now()) : undefined;
  if (halt) return { halt };
  if (!maySend) return progress.open.length === 0 ? {} : undefined;
  progress.held = askedForFunds(batch.input, progress);
  const pause = whyNoneGoesFirst(progress);
  return pause ? { pause } : undefined;
}

/**
 * Sends the progress to the server. Returns false if the activity should answer now; throws if this
 * attempt no longer counts.
 */
async function mayGoOn(chunk: Chunk): Promise<boolean> {
  // If an operator paused or reset it, it must fail; the server reports that below.
  const { paused, reset } = cancellationDetails() ?? {};
  if (cancellationSignal().aborted && !paused && !reset) return false;
  try {
    await chunk.deps.confirmAttempt(chunk.progress);
    chunk.confirmedAtMs = performance.now();
    chunk.confirmedAtWallMs = Date.now();
    return true;
  } catch (error) {
    if (error instanceof ActivityCancelledError) return false;
    throw error;
  }
}

function roomFor(chunk: Chunk): number {
  const { mode, input } = chunk.batch;
  const { progress } = chunk;
  if (mode !== 'send' || progress.exhausted || progress.held !== undefined) return 0;
  // Later rows would only join the line behind those that wait.
  if (progress.short?.length && input.whenShort !== 'overtake') return 0;
  if (progress.first) return mayGoFirst(progress, mostInFlight(input), Date.now()) ? 1 : 0;
  const left = leftOf(chunk);
  // The last ones go once the service has answered all others, of which they may be later orders.
  const most = progress.open.length > 0 && left > KEPT_ROWS ? left - KEPT_ROWS : left;
  return Math.min(ROWS_AT_ONCE, most, mostInFlight(input) - progress.open.length);
}

/** Uses two clocks, because one stops while a machine sleeps and the other may be set. */
const isConfirmed = ({ confirmedAtMs, confirmedAtWallMs }: Chunk): boolean =>
  Math.max(performance.now() - confirmedAtMs, Date.now() - confirmedAtWallMs) <= CONFIRMED_FOR_MS;

/** Starts the next rows. Returns why none may be started. */
async function startRows(chunk: Chunk, count: number): Promise<string | undefined> {
  const { batch, progress } = chunk;
  const rows = nextRows(chunk, count);
  const pause = beyondPlan(batch.plan, progress, rows);
  if (pause) return pause;
  const started = await startInOrder(chunk, rows);
  const taken = rows.slice(0, started.length);
  chunk.read.unshift(...rows.slice(started.length));
  // Counted together at the end: an attempt that dies earlier leaves a progress that starts these
  // rows again.
  for (const row of started) countStarted(progress, row);
  countTaken(progress, taken);
  const [first] = started;
  if (progress.first && first?.orderId) progress.first = { ...progress.first, row: first.row, orderId: first.orderId };
  progress.exhausted = progress.taken >= batch.plan.rows;
  // Before the last rows, it looks at all others.
  if (leftOf(chunk) <= KEPT_ROWS) chunk.nextWatchMs = 0;
  return undefined;
}

/** Returns the next rows that were not taken; while rows are in doubt, the smallest one. */
function nextRows({ rows, read, progress, batch }: Chunk, count: number): BatchRow[] {
  const wanted = progress.first ? ROWS_TO_CHOOSE_FROM : count;
  const next = read.splice(0).filter(({ row }) => !isTaken(progress, row));
  while (rows && next.length < wanted) {
    const [row] = nextOf(rows, 1);
    if (!row) break;
    if (!isTaken(progress, row.row)) next.push(row);
  }
  const chosen = progress.first ? smallestOf(next, progress, batch.plan.totals) : next.slice(0, count);
  read.push(...next.filter((row) => !chosen.includes(row)));
  return chosen;
}

/**
 * Starts rows together, or one after the other if the oldest order gets the funds first. Returns
 * those that it started before the batch was stopped or paused.
 */
async function startInOrder(chunk: Chunk, rows: readonly BatchRow[]): Promise<StartedRow[]> {
  const { whenShort } = chunk.batch.input;
  const confirm = (): void => {
    if (!isConfirmed(chunk)) throw new Error('this worker was stopped in between');
  };
  const start = (row: BatchRow) => startRow(chunk, row, confirm);
  if (whenShort !== 'wait' && whenShort !== 'overtake') return Promise.all(rows.map(start));
  const started: StartedRow[] = [];
  for (const row of rows) {
    if (!isConfirmed(chunk) && !(await mayGoOn(chunk))) break;
    started.push(await start(row));
  }
  return started;
}
