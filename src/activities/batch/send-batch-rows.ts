import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, cancellationDetails, cancellationSignal, getClient, heartbeat } from '@temporalio/activity';
import { ActivityCancelledError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { type BatchRow, nextOf, readBatchSource } from '../../batch-files/source.js';
import type { SendBatchRowsAnswer, SendBatchRowsInput } from '../../contract/batch/activities.js';
import { type BatchInput, type BatchProgress, DEFAULT_IN_FLIGHT, isProgress } from '../../contract/batch/batch.js';
import type { ActivityDeps } from '../deps.js';
import { batchFailure } from '../failures.js';
import { lastHeartbeat } from '../only-attempt.js';
import { beyondPlan, countStarted, countTaken } from './rows/count.js';
import { confirmReading } from './rows/reading.js';
import { type BatchWork, startRow } from './rows/start-row.js';
import { takeStarted, watchRows } from './rows/watch-rows.js';

/** Rows started at the same time, after one question whether the batch may go on. */
const ROWS_AT_ONCE = 20;
/** How often the open orders are looked after: less often while nothing happens to them. */
const WATCH_EVERY_MS = { shortest: 500, longest: 3_000 };
/** How soon a pause or stop is heard of while nothing can be started. */
const ASK_EVERY_MS = 1_000;
const TURN_MS = 250;
/** One order that nobody answers for must not make the server take this worker for dead. */
const BEAT_EVERY_MS = 3_000;
/** A process that was stopped in the middle of a group must not send when it goes on: the batch may be stopped by then. */
const CONFIRMED_FOR_MS = 5_000;
/** So long after a reset a chunk of the run before may start rows still: its confirmation, and the calls under way then. */
const LAST_STARTS_MS = 2 * CONFIRMED_FOR_MS;

interface Chunk extends BatchWork {
  deps: ActivityDeps;
  /** The rows behind those taken; absent where no row may be taken. */
  rows?: Iterator<BatchRow>;
  nextWatchMs: number;
  watchEveryMs: number;
  confirmedAtMs: number;
  confirmedAtWallMs: number;
}

/** Starts and follows rows for a few seconds. A later attempt continues from the heartbeat. */
export function sendBatchRowsActivity(deps: ActivityDeps) {
  return async function sendBatchRows(batch: SendBatchRowsInput): Promise<SendBatchRowsAnswer> {
    const left = lastHeartbeat();
    // What is none of ours is none at all: rows that were started since are attached to.
    const progress = isProgress(left) ? left : batch.progress;
    const times = { nextWatchMs: 0, watchEveryMs: WATCH_EVERY_MS.shortest, confirmedAtMs: 0, confirmedAtWallMs: 0 };
    const chunk: Chunk = { client: getClient(), deps, batch, progress, ...times };
    // Through the worker, which drops the answer of an activity whose beats it does not see. Whether this attempt may go on is asked apart.
    const beat = setInterval(() => heartbeat(progress), BEAT_EVERY_MS);
    try {
      // The batch may have been paused or stopped since what this was copied from.
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
  // A reset run must not send on its own: the run before may have been stopped, or be done, behind that event.
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

/** Waits, but not beyond the end of this attempt. */
const pauseFor = (ms: number): Promise<void> => sleep(ms, undefined, { signal: cancellationSignal() }).catch(() => {});

/** Takes what was started and not counted, where the batch was stopped or reset; false when that was broken off. */
async function takeUncounted(chunk: Chunk, resetRun: string | undefined): Promise<boolean> {
  const { batch, rows } = chunk;
  if (!rows || (!resetRun && batch.mode !== 'finish')) return true;
  // What the run before the reset has under way comes first.
  if (resetRun) await pauseFor(LAST_STARTS_MS);
  return (await mayGoOn(chunk)) && takeStarted(chunk, rows, () => mayGoOn(chunk));
}

/** The run that asks, where it was cut from another one by a reset and rows may be left to send or to be found. */
function resetRunOf({ batch, rows }: Chunk): string | undefined {
  const runId = activityInfo().workflowExecution?.runId;
  return rows && runId !== batch.knownRun ? runId : undefined;
}

async function watchNowAndThen(chunk: Chunk): Promise<void> {
  const { progress } = chunk;
  const before = progress.open.length;
  const { shortest, longest } = WATCH_EVERY_MS;
  if (performance.now() < chunk.nextWatchMs) return;
  await watchRows(chunk);
  chunk.watchEveryMs = progress.open.length < before ? shortest : Math.min(longest, chunk.watchEveryMs * 1.2);
  chunk.nextWatchMs = performance.now() + chunk.watchEveryMs;
}

/** Returns why the chunk ends before its time; records why it sends nothing for now. */
function reasonToEnd({ batch, progress }: Chunk): Omit<SendBatchRowsAnswer, 'progress'> | undefined {
  progress.held = undefined;
  const maySend = batch.mode === 'send' && !progress.exhausted;
  if (!maySend) return progress.open.length === 0 ? {} : undefined;
  const halt = haltReason(batch.input, progress, Date.now());
  if (halt) return { halt };
  const { pause, held } = holdReason(progress);
  progress.held = held;
  return pause ? { pause } : undefined;
}

/** Hands the progress to the server and hears whether this attempt still counts; false = answer now. Throws when it does not. */
async function mayGoOn(chunk: Chunk): Promise<boolean> {
  // Paused or reset by an operator it must fail, not answer: the server says so below.
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

function roomFor({ batch: { mode, input }, progress }: Chunk): number {
  if (mode !== 'send' || progress.exhausted || progress.held !== undefined) return 0;
  return Math.min(ROWS_AT_ONCE, (input.maxInFlight ?? DEFAULT_IN_FLIGHT) - progress.open.length);
}

/** Two clocks, because one stands still while a machine sleeps and the other may be set. */
const isConfirmed = ({ confirmedAtMs, confirmedAtWallMs }: Chunk): boolean =>
  Math.max(performance.now() - confirmedAtMs, Date.now() - confirmedAtWallMs) <= CONFIRMED_FOR_MS;

/** Starts the next rows; returns why none of them may be started. */
async function startRows(chunk: Chunk, count: number): Promise<string | undefined> {
  const { batch, progress } = chunk;
  const rows = chunk.rows ? nextOf(chunk.rows, count) : [];
  const pause = beyondPlan(batch.plan, progress, rows);
  if (pause) return pause;
  if (!isConfirmed(chunk)) throw new Error('this worker was stopped in between');
  const started = await Promise.all(rows.map((row) => startRow(chunk, row)));
  // Only now, all at once: an attempt that dies before leaves a progress after which these rows are started again.
  for (const row of started) countStarted(progress, row);
  countTaken(progress, rows);
  progress.exhausted = progress.taken >= batch.plan.rows;
  return undefined;
}

/** Neighbouring rows that are uncertain at the same time. */
const UNCERTAIN_IN_A_ROW = 3;

/** Why a batch must stop by itself; undefined = it goes on. */
export function haltReason(
  { stopAfter, latestSend }: Pick<BatchInput, 'stopAfter' | 'latestSend'>,
  { outcomes }: Pick<BatchProgress, 'outcomes'>,
  nowMs: number,
): string | undefined {
  const { completed, ...others } = outcomes;
  const failed = Object.values(others).reduce((sum, count) => sum + count, 0);
  const limit = stopAfter?.failures;
  if (limit !== undefined && failed >= limit) {
    return `${failed} rows ended otherwise than completed; the limit is ${limit}`;
  }
  const isOver = latestSend !== undefined && nowMs > Date.parse(latestSend);
  return isOver ? `the latest send time ${latestSend} is over` : undefined;
}

/** Returns why uncertain neighbours, a sign of one cause, hold it; `pause`: all are parked. */
export function holdReason({ unsettled, uncertain = [] }: Pick<BatchProgress, 'unsettled' | 'uncertain'>): {
  held?: string;
  pause?: string;
} {
  const parked = neighbours(unsettled);
  if (parked) return { pause: `${parked}; look at them before more is sent` };
  const some = neighbours([...uncertain, ...unsettled]);
  return some ? { held: `${some}; nothing is sent until it is known what became of them` } : {};
}

function neighbours(unclear: readonly number[]): string | undefined {
  const rows = [...new Set(unclear)].sort((a, b) => a - b);
  const more = UNCERTAIN_IN_A_ROW - 1;
  const last = rows.find((row, index) => rows[index - more] === row - more);
  return last === undefined ? undefined : `rows ${last - more} to ${last} are uncertain at the same time`;
}
