import { ActivityFailure, condition, continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import type { PlannedRows, SendBatchRowsAnswer } from '../../contract/batch/activities.js';
import { type BatchInput, type BatchPlan, type BatchProgress, BY_ITSELF } from '../../contract/batch/batch.js';
import { sendingChunk } from '../activity-calls.js';
import { beforeEndOf } from '../outbox.js';
import { interruptible, pause, pauseAfterReset, stop } from './interruptions.js';
import { enter, showBatch } from './show.js';
import { type BatchRun, type CarriedBatch, carriedBatch } from './state.js';

/** Events after which a batch continues in a new run; the bound is 500. */
const MAX_EVENTS = 400;

/** Chunk durations. Operators want new figures soon; chunks grow while nothing changes. */
const CHUNK_MS = { shortest: 5_000, longest: 30_000 };

type BatchWorkflow = (input: BatchInput, carried: CarriedBatch, progress: BatchProgress) => Promise<unknown>;

/** Sends the rows in chunks and follows them to their ends. Continues as new on the way. */
export async function sendRows(run: BatchRun, plan: BatchPlan): Promise<void> {
  let durationMs = CHUNK_MS.shortest;
  while (!isSettled(run)) {
    if (isIdle(run)) await untilAsked(run);
    else durationMs = await sendChunk(run, plan, durationMs);
    if (isLong()) await continueInNewRun(run, plan);
  }
}

const isSettled = ({ progress }: BatchRun): boolean => progress.open.length === 0 && progress.exhausted;

const isIdle = ({ paused, stopped, progress }: BatchRun): boolean =>
  paused !== undefined && !stopped && progress.open.length === 0;

/** Large inputs make a history large before it is long. */
const isLong = (): boolean => {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return historyLength >= MAX_EVENTS || continueAsNewSuggested;
};

async function untilAsked(run: BatchRun): Promise<void> {
  enter(run, 'paused', 'resume or stop');
  await condition(() => !isIdle(run) || isLong());
}

async function sendChunk(run: BatchRun, plan: BatchPlan, durationMs: number): Promise<number> {
  const mode = modeOf(run);
  if (mode === 'send') run.sendingSince ??= new Date().toISOString();
  enterSending(run);
  const { sendBatchRows } = proxyActivities<Activities>({ ...sendingChunk, summary: summaryOf(run, plan) });
  const { input, account, startedAt, progress, knownRun } = run;
  try {
    const answer = await interruptible(
      run,
      () => sendBatchRows({ account, input, plan: plannedRows(plan), startedAt, progress, mode, durationMs, knownRun }),
      (lost) => {
        run.progress = lost;
      },
    );
    // Otherwise the rows since its last heartbeat are started or looked for again.
    if (answer) note(run, plan, answer);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    endWithoutAnswer(run, error);
  }
  showBatch(run);
  return hasMoved(progress, run) ? CHUNK_MS.shortest : Math.min(CHUNK_MS.longest, durationMs * 2);
}

const plannedRows = ({ sha256, rows, orders, currencies }: BatchPlan): PlannedRows => ({
  sha256,
  rows,
  orders,
  totals: Object.fromEntries(currencies.map(({ currency, total }) => [currency, total])),
});

function modeOf({ stopped, paused }: BatchRun): 'send' | 'wait' | 'finish' {
  if (stopped) return 'finish';
  return paused ? 'wait' : 'send';
}

function enterSending(run: BatchRun): void {
  const { stopped, paused, progress } = run;
  const [first, ...more] = progress.short ?? [];
  const funds = first !== undefined && `funds: row ${first} and ${more.length} more wait for them`;
  const oneByOne = progress.first && `the orders of the rows, one row at a time: ${progress.first.why}`;
  if (stopped) enter(run, 'following', FOLLOWS);
  else if (progress.exhausted) enter(run, 'following', funds || FOLLOWS);
  else if (paused) enter(run, 'paused', 'resume or stop, and the end of the started orders');
  else enter(run, 'sending', funds || oneByOne || 'the orders of the rows');
}

const FOLLOWS = 'the end of the started orders';

const summaryOf = ({ progress: { taken, open } }: BatchRun, { rows }: BatchPlan): string =>
  `${taken} of ${rows} rows taken, ${open.length} open`;

function note(run: BatchRun, { rows }: BatchPlan, answer: SendBatchRowsAnswer): void {
  const { progress, halt, pause: unsure, resetRun } = answer;
  run.progress = progress;
  if (halt) stop(run, { by: BY_ITSELF, reason: halt });
  if (unsure && !run.paused && !run.stopped) {
    pause(run, { by: BY_ITSELF, reason: unsure });
    // A resume must not pause for the same rows again.
    run.progress = { ...progress, unsettled: [], first: undefined };
  }
  if (resetRun) pauseAfterReset(run, resetRun, rows);
}

/** The file is unusable, or an operator ended the activity. */
function endWithoutAnswer(run: BatchRun, error: ActivityFailure): void {
  const reason = error.cause?.message ?? 'its activity was ended';
  if (run.stopped) {
    const attention = `rows started last may be missing here: ${reason}`;
    run.progress = { ...run.progress, exhausted: true, ...(run.sendingSince && { attention }) };
    return;
  }
  pause(run, { by: BY_ITSELF, reason });
}

const hasMoved = ({ taken, open }: BatchProgress, { progress }: BatchRun): boolean =>
  taken !== progress.taken || open.length !== progress.open.length;

/** Plan and progress are separate arguments, because together they could exceed 100 KB. */
async function continueInNewRun(run: BatchRun, plan: BatchPlan): Promise<void> {
  await beforeEndOf(run.outbox);
  await continueAsNew<BatchWorkflow>(run.input, carriedBatch(run, plan), run.progress);
}
