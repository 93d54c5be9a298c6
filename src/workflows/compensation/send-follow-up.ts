import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ApplicationFailure,
  CancellationScope,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  startChild,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import { echoDifferences } from '../../contract/differences/echo.js';
import { isOrderFailure, ORDER_UNRESOLVED } from '../../contract/failures.js';
import { orderWorkflowId } from '../../contract/names.js';
import type { Basis } from '../../contract/order/basis.js';
import type { OrderResult, RunInput } from '../../contract/order/input-and-result.js';
import type { TakenDecision } from '../../contract/order/messages.js';
import { startAttributes, workflowTypeOf } from '../../contract/order/types.js';
import { type FinalStatus, isFinal, type Order } from '../../contract/service-objects.js';
import { answersWithin, cancellable, watch } from '../activity-calls.js';
import { ask } from '../ask/ask.js';
import { parkUnless } from '../order/show.js';
import type { OrderRun } from '../order/state.js';
import type { FollowUp } from './moves.js';

/** Time after which an operator may accept an existing follow-up that is not final. */
const ASK_AFTER_MS = 15 * 60_000;

/** How a follow-up ended. 'unknown': it may have moved money; `accepted`: nobody waits. */
export type FollowUpEnd =
  | { kind: 'final'; how: string; outcome: FinalStatus; order: Order }
  | { kind: 'none'; how: string }
  | { kind: 'unknown'; how: string; accepted?: TakenDecision };

/**
 * Runs a follow-up to its end as a child that outlives this workflow; an existing one is looked up.
 * It is sent only while `basis` holds, and cancelling this workflow stops one that has not sent.
 */
export async function sendFollowUp(run: OrderRun, followUp: FollowUp, basis: Basis[]): Promise<FollowUpEnd> {
  // After a cancellation, an operator decided that it is still wanted.
  const decidedSince = run.facts.cancelled;
  const isCancelled = () => run.facts.cancelled && !decidedSince;
  const watched = <T>(follow: () => Promise<T>) => cancellable(follow, isCancelled, () => stop(run, followUp));
  try {
    const child = await startChild<(input: RunInput) => Promise<OrderResult>>(
      workflowTypeOf(followUp.type),
      childOptions(run, followUp, basis),
    );
    const { order, decisions = [] } = await watched(() => child.result());
    // An operator adopted another order, so what was moved is unknown.
    const isOther = decisions.some(({ differences = [] }) => differences.length > 0);
    return isOther ? { kind: 'unknown', how: 'was adopted as another payment' } : ended(order);
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return watched(() => followExisting(run, followUp));
    if (!(error instanceof ChildWorkflowFailure)) throw error;
    return endedWithoutOrder(error.cause);
  }
}

/** Longest wait for the server's answer to a cancellation. */
const STOP_WITHIN_MS = 60_000;

/** Cancels a follow-up. After a send, it is followed to its end. */
async function stop({ account }: OrderRun, { request }: FollowUp): Promise<void> {
  const cancelled = getExternalWorkflowHandle(orderWorkflowId(account, request.order_id)).cancel();
  // Fails if the follow-up has ended already.
  await answersWithin(cancelled, STOP_WITHIN_MS, 'Until the follow-up is cancelled');
}

/** Only order failures say that no order exists; a stopped workflow proves nothing. */
function endedWithoutOrder(cause: unknown): FollowUpEnd {
  const type = cause instanceof ApplicationFailure ? cause.type : undefined;
  if (type === ORDER_UNRESOLVED) return { kind: 'unknown', how: 'was closed by a person: its order may exist' };
  if (!isOrderFailure(type)) return { kind: 'unknown', how: 'was stopped: its order may exist' };
  // Other messages advise about single orders, not about follow-ups.
  const why = type === 'OrderCancelled' && cause instanceof ApplicationFailure ? `: ${cause.message}` : '';
  // Another order under this id may be another attempt of this follow-up.
  return { kind: type === 'OrderConflict' ? 'unknown' : 'none', how: `came to no order (${type})${why}` };
}

function ended(order: Order): FollowUpEnd {
  if (!isFinal(order.status)) throw new Error('a follow-up ends with a final order');
  return { kind: 'final', how: `ended ${order.status}`, outcome: order.status, order };
}

/** Who decided on the newest follow-up; undefined for the one of the policy, which comes first. */
const decidedBy = ({ decisions }: OrderRun): string | undefined =>
  decisions.findLast(({ action }) => action === 'finish' || action === 'revert')?.by;

function childOptions(run: OrderRun, { type, request }: FollowUp, basis: Basis[]) {
  const input: RunInput = {
    account: run.account,
    order: request,
    compensation: 'report',
    followUpOf: basis,
    resend: run.input.resend,
    batchId: run.input.batchId,
    reference: run.input.reference,
    metadata: run.input.metadata,
    sentTo: run.sentTo,
    strictest: run.strictest,
    latestSend: run.input.latestSend,
    decidedBy: decidedBy(run),
  };
  return {
    workflowId: orderWorkflowId(run.account, request.order_id),
    args: [input] as [RunInput],
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    // A payout in flight must outlive its parent.
    parentClosePolicy: ParentClosePolicy.ABANDON,
    cancellationType: ChildWorkflowCancellationType.ABANDON,
    staticSummary: `follow-up ${type} of ${run.request.order_id}`,
    typedSearchAttributes: startAttributes(type, run.account, request, input),
  };
}

/** Follows an existing follow-up by look-ups. After a while, an operator may accept it. */
export async function followExisting(run: OrderRun, followUp: FollowUp): Promise<FollowUpEnd> {
  const polling = new CancellationScope();
  const polled = polling.run(() => pollToFinal(run, followUp));
  if (await answersWithin(polled, ASK_AFTER_MS, 'Not final: a person is asked'))
    return existingEnded(followUp, await polled);
  const isSeen = watch(polled);
  const reason = `the follow-up ${followUp.request.order_id} was started before and shows no final status yet`;
  const accepted = await parkUnless(run, { code: 'follow-up-open', reason, allowed: ['accept'] }, isSeen);
  if (isSeen() && !accepted) return existingEnded(followUp, await polled);
  polling.cancel();
  // Nothing more may be sent for it.
  await stop(run, followUp);
  return { kind: 'unknown', how: 'showed no final status', accepted };
}

function existingEnded({ type, request }: FollowUp, order: Order): FollowUpEnd {
  const { hard } = echoDifferences(type, request, order);
  if (hard.length === 0) return ended(order);
  return { kind: 'unknown', how: `was started before, as another payment (${hard.join(', ')})` };
}

async function pollToFinal(run: OrderRun, { request }: FollowUp): Promise<Order> {
  const summary = `Follow ${request.order_id}, which was started before`;
  for (let tolerateAll = false; ; tolerateAll = true) {
    const input = { account: run.account, orderId: request.order_id, sentTo: run.sentTo, tolerateAll };
    const order = await ask(run, { summary }, ({ pollOrder }) => pollOrder(input));
    // An operator is asked anyway.
    if ('silent' in order) continue;
    if (isFinal(order.status)) return order;
  }
}
