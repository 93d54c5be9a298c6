import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { CreateOrderInput, CreateVerdict, SendPermission } from '../../contract/order/answers.js';
import type { SentTo } from '../../contract/order/sent-to.js';
import { noteAnswer } from '../ask/ask.js';
import { untilServed } from '../ask/until-served.js';
import { isFollowUp } from '../identity.js';
import { enterPhase } from '../order/attention.js';
import { closeCancelled, closeWithoutOrder } from '../order/end.js';
import { nothingSent, type OrderRun, remainingDelayMinutes, sentNothingItself } from '../order/run.js';
import { moneyMoving } from '../profiles.js';
import { cancellable } from '../watch.js';

/**
 * One attempt of the create activity. It sends at most once, and not at all without permission. Whatever ends it without
 * an answer of its own (worker died, time-out, a bug) is 'uncertain': the create may have reached the service.
 */
export async function attemptCreate(run: OrderRun, permission: SendPermission): Promise<CreateVerdict> {
  if (run.revision > 1) enterPhase(run, 'creating', 'the create');
  const options = { ...moneyMoving(run.account), summary: summaryOf(run) };
  run.firstAttemptAtMs ??= Date.now();
  try {
    const answer = await cancellableBeforeFirstSend(run, () =>
      untilServed(run, options, ({ createOrder }) => createOrder(attemptInput(run, permission))),
    );
    noteAnswer(run, answer, mayHaveSent(answer, permission));
    if (answer.kind === 'uncertain' && answer.reset) noteReset(run);
    if (answer.notes) run.notes = answer.notes;
    return answer;
  } catch (error) {
    return verdictOfFailure(run, error);
  }
}

/** What a run that was cut from another one by a reset cannot know. */
function noteReset(run: OrderRun): void {
  // The run before this one may have sent it, and only that one knows where.
  if (!run.sentTo) run.sends.placeUnknown = true;
  // It may have ended without an order, and another follow-up was sent in its place.
  if (isFollowUp(run)) run.sends.mayBeReplaced = true;
}

function attemptInput(run: OrderRun, permission: SendPermission): CreateOrderInput {
  const delayMinutes = remainingDelayMinutes(run);
  const { settled } = run.sends;
  return {
    type: run.type,
    account: run.account,
    input: run.input,
    firstExecutionRunId: workflowInfo().firstExecutionRunId,
    permission,
    ...(permission === 'absent' && settled?.kind === 'absent' && { provenIn: settled.provenIn }),
    ...(run.sentTo && { sentTo: run.sentTo }),
    ...(run.approved && { approved: true }),
    ...(delayMinutes !== undefined && { delayMinutes }),
    followUp: isFollowUp(run),
  };
}

/** True for an attempt that was free to send and does not say that it did not. */
const mayHaveSent = (verdict: CreateVerdict, permission: SendPermission): boolean =>
  verdict.kind === 'rejected' || (verdict.kind === 'uncertain' && !verdict.reset && permission !== 'none');

const summaryOf = (run: OrderRun): string =>
  run.sends.count === 0 ? 'Probe, then create' : 'Probe, then create again';

/**
 * While nothing was sent, cancelling the workflow takes the attempt out of the queue, unless a worker has it already. A
 * reset run replays what the run before it did, so it must decide by what both know: its own sends.
 */
function cancellableBeforeFirstSend<T>(run: OrderRun, attempt: () => Promise<T>): Promise<T> {
  if (run.sends.count > 0) return attempt();
  const scope = new CancellationScope();
  return cancellable(
    () => scope.run(attempt),
    () => run.cancelRequested,
    () => scope.cancel(),
  );
}

function verdictOfFailure(run: OrderRun, error: unknown): CreateVerdict {
  // Reported only for an attempt that no worker had started: nothing was sent.
  if (isCancellation(error) && run.cancelRequested && nothingSent(run)) closeCancelled(run);
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (cause instanceof ApplicationFailure && cause.type === 'InvalidOrder') {
    if (sentNothingItself(run)) closeWithoutOrder(run, 'InvalidOrder', cause.message, ...(cause.details ?? []));
    return { kind: 'notSent', reason: cause.message };
  }
  if (cause instanceof TimeoutFailure) {
    // Written by the attempt right before its send; says where it went even when the worker died.
    const written = cause.lastHeartbeatDetails as { sentTo?: SentTo } | undefined;
    run.sentTo ??= written?.sentTo;
    return { kind: 'uncertain', reason: 'the worker that held the create gave no answer in time', timedOut: true };
  }
  if (!(error instanceof ActivityFailure)) throw error;
  // Failed by an operator, perhaps, while its worker goes on: nothing tells that its request is over, or where it went.
  if (!run.sentTo) run.sends.placeUnknown = true;
  return { kind: 'uncertain', reason: 'the create attempt ended without an answer', timedOut: true };
}
