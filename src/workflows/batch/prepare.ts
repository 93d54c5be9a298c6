import { ActivityFailure, ApplicationFailure, condition, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import {
  BATCH_NOT_APPROVED,
  BATCH_STOPPED,
  type BatchPlan,
  BY_ITSELF,
  inlineBytes,
  MAX_INLINE_BYTES,
  shownInterruption,
} from '../../contract/batch/batch.js';
import { BATCH_ID_FORMAT, batchPlanWorkflowId, batchWorkflowId } from '../../contract/names.js';
import { failureOf, wholeFile } from '../activity-calls.js';
import {
  checkAccount,
  checkInput,
  checkNoTimeLimit,
  checkShownName,
  checkWorkflowId,
  isReset,
  refuseInput,
} from '../identity.js';
import { emit } from './events.js';
import { interruptible, pause, stop, unresolved, untilWritten } from './interruptions.js';
import { enter } from './show.js';
import type { BatchRun } from './state.js';

const APPROVAL_EXPIRES_MS = 24 * 3_600_000;

/** Checks the identity of a batch, or of a plan, which needs no id. Throws InvalidInput. */
export function checkBatch({ input, account, batchId }: BatchRun): void {
  checkInput(refuseInput, input, '{batchId, file or rows, …}');
  checkAccount(refuseInput, account);
  const mayLackId = input.planOnly === true && input.batchId === undefined;
  if (!mayLackId && (typeof batchId !== 'string' || !BATCH_ID_FORMAT.test(batchId))) {
    refuseInput('batchId', 'must match [A-Za-z0-9._-]{1,120}');
  }
  if (typeof batchId === 'string') checkShownName(refuseInput, 'batchId', batchId);
  if (inlineBytes(input) > MAX_INLINE_BYTES) {
    refuseInput('rows', `are more than ${MAX_INLINE_BYTES} bytes; send them in a file`);
  }
  checkNoTimeLimit(refuseInput, 'it would end in the middle');
  const planPrefix = batchPlanWorkflowId(account, '');
  if (input.planOnly !== true) {
    checkWorkflowId(refuseInput, 'batchId', batchWorkflowId(account, batchId));
  } else if (!workflowInfo().workflowId.startsWith(planPrefix)) {
    refuseInput('planOnly', `needs a workflow id that begins with ${planPrefix}`);
  }
}

/** Checks every row and returns the plan. A bad row or file fails, and nothing was sent. */
export async function makePlan(run: BatchRun): Promise<BatchPlan> {
  const { planBatch } = proxyActivities<Activities>({ ...wholeFile, summary: 'Check every row, make the plan' });
  enter(run, 'checking', 'the check of every row');
  try {
    const { account, input } = run;
    const check = () => untilWritten(run, (more) => planBatch({ account, input, ...more }));
    // Without a plan, a reset run could not find its started orders.
    const plan = (await interruptible(run, check)) ?? (mayHaveSent(run) ? await check() : undefined);
    if (!plan) throw ApplicationFailure.nonRetryable(`${stopReason(run)}. Nothing was sent`, BATCH_STOPPED);
    run.plan = plan;
    if (!run.input.planOnly) run.outbox.receivers = plan.receivers;
    emit(run, 'batch.planned');
    return plan;
  } catch (error) {
    enter(run, 'done', 'nothing');
    const cause = error instanceof ActivityFailure ? error.cause : undefined;
    if (mayHaveSent(run)) throw unresolved(`its rows cannot be checked: ${cause?.message ?? 'no reason given'}`);
    throw failureOf(error) ?? error;
  }
}

const mayHaveSent = ({ input }: BatchRun): boolean => !input.planOnly && isReset();

const stopReason = ({ stopped }: BatchRun): string => (stopped ? shownInterruption(stopped).reason : 'stopped');

/** Waits until another person approves the plan, or until the batch is stopped. */
export async function awaitApproval(run: BatchRun): Promise<void> {
  const { approval, approvalExpiresMs = APPROVAL_EXPIRES_MS } = run.input;
  if (approval !== 'required' || run.stopped) return;
  enter(run, 'awaitingApproval', 'an approval');
  const isAnswered = () => run.approvedBy !== undefined || run.stopped !== undefined;
  const answered = await condition(isAnswered, approvalExpiresMs, { summary: 'Until the plan expires unapproved' });
  if (answered) return;
  if (isReset()) return stop(run, { by: BY_ITSELF, reason: 'nobody approved the plan in time' });
  enter(run, 'done', 'nothing');
  throw ApplicationFailure.nonRetryable(
    `nobody approved the plan in time; nothing was sent. Start it again under another batch id, or with \`again\``,
    BATCH_NOT_APPROVED,
  );
}

/** Pauses on a short balance, or on an unknown one without approval. */
export function pauseOnShortfall(run: BatchRun, { currencies }: BatchPlan): void {
  const short = currencies.filter(({ shortfall }) => shortfall !== undefined);
  const unknown = currencies.filter(({ balanceBefore }) => balanceBefore === null);
  const asks = run.approvedBy === undefined ? [...short, ...unknown] : short;
  if (asks.length === 0 || run.stopped) return;
  const figures = asks.map(({ currency, shortfall }) =>
    shortfall ? `${shortfall} ${currency} are missing` : `the balance of ${currency} could not be read`,
  );
  pause(run, { by: BY_ITSELF, reason: `${figures.join(', ')}; resume once it is covered` });
}
