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
import { toleratedStatuses } from '../follow/await-final.js';
import { parkUnless } from '../order/park.js';
import type { OrderRun } from '../order/state.js';
import type { FollowUp } from './moves.js';

/** A follow-up that was started before and is not final after this long may be accepted as it is. */
const ASK_AFTER_MS = 15 * 60_000;

/** How it ended. 'none': no order exists. 'unknown': it may have moved money; `accepted`: a person did not wait. */
export type FollowUpEnd =
  | { kind: 'final'; how: string; outcome: FinalStatus; order: Order }
  | { kind: 'none'; how: string }
  | { kind: 'unknown'; how: string; accepted?: TakenDecision };

/**
 * Runs a follow-up to its end as a child of its own: it outlives this workflow, is started once per order id whatever
 * happens here, and is followed by look-up where it exists already. `basis`: what it is made for; it is sent only while that
 * holds. Cancelling this workflow meanwhile stops a follow-up that has not sent.
 */
export async function sendFollowUp(run: OrderRun, followUp: FollowUp, basis: Basis[]): Promise<FollowUpEnd> {
  // Where it was cancelled by now, a person decided after that, and wants the follow-up.
  const decidedSince = run.facts.cancelled;
  const isCancelled = () => run.facts.cancelled && !decidedSince;
  const watched = <T>(follow: () => Promise<T>) => cancellable(follow, isCancelled, () => stop(run, followUp));
  try {
    const child = await startChild<(input: RunInput) => Promise<OrderResult>>(
      workflowTypeOf(followUp.type),
      childOptions(run, followUp, basis),
    );
    const { order, decisions = [] } = await watched(() => child.result());
    // A person took another order in its place: what that one moved is not what was asked for.
    const isOther = decisions.some(({ differences = [] }) => differences.length > 0);
    return isOther ? { kind: 'unknown', how: 'was adopted as another payment' } : ended(order);
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return watched(() => followExisting(run, followUp));
    if (!(error instanceof ChildWorkflowFailure)) throw error;
    return endedWithoutOrder(error.cause);
  }
}

/** The server answers a cancellation at once; one that is not answered, such as of an ended run, holds nothing up. */
const STOP_WITHIN_MS = 60_000;

/** Cancels a follow-up: it ends if nothing was sent, and is otherwise followed to its end. */
async function stop({ account }: OrderRun, { request }: FollowUp): Promise<void> {
  const cancelled = getExternalWorkflowHandle(orderWorkflowId(account, request.order_id)).cancel();
  // It fails where the follow-up has ended by now: then there is nothing to stop.
  await answersWithin(cancelled, STOP_WITHIN_MS, 'Until the follow-up is cancelled');
}

/** A stopped workflow proves nothing about its order: only the failures of an order say that there is none of ours. */
function endedWithoutOrder(cause: unknown): FollowUpEnd {
  const type = cause instanceof ApplicationFailure ? cause.type : undefined;
  if (type === ORDER_UNRESOLVED) return { kind: 'unknown', how: 'was closed by a person: its order may exist' };
  if (!isOrderFailure(type)) return { kind: 'unknown', how: 'was stopped: its order may exist' };
  // What the others say is advice about an order that stands by itself; here a person decides about the one before.
  const why = type === 'OrderCancelled' && cause instanceof ApplicationFailure ? `: ${cause.message}` : '';
  // Somebody else's order under an id that is made from ours may be another attempt at this very follow-up.
  return { kind: type === 'OrderConflict' ? 'unknown' : 'none', how: `came to no order (${type})${why}` };
}

function ended(order: Order): FollowUpEnd {
  if (!isFinal(order.status)) throw new Error('a follow-up ends with a final order');
  return { kind: 'final', how: `ended ${order.status}`, outcome: order.status, order };
}

function childOptions(run: OrderRun, { type, request }: FollowUp, basis: Basis[]) {
  const input: RunInput = {
    account: run.account,
    order: request,
    compensation: 'report',
    followUpOf: basis,
    resend: run.input.resend,
    batchId: run.input.batchId,
    sentTo: run.sentTo,
  };
  return {
    workflowId: orderWorkflowId(run.account, request.order_id),
    args: [input] as [RunInput],
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    // A payout in flight must outlive its parent, however the parent ends.
    parentClosePolicy: ParentClosePolicy.ABANDON,
    cancellationType: ChildWorkflowCancellationType.ABANDON,
    staticSummary: `follow-up ${type} of ${run.request.order_id}`,
    typedSearchAttributes: startAttributes(type, run.account, request, run.input.batchId),
  };
}

/**
 * Another run sent it: its result is not to be had here, but the service tells how it ended. It may also have come to
 * no order, which no poll can tell from "not yet": after a while a person may accept that, while the polling goes on.
 */
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
  // Accepted as it is: nothing more is to be sent for it.
  await stop(run, followUp);
  return { kind: 'unknown', how: 'showed no final status', accepted };
}

/** The run that started it may have been decided differently: what it moved is then not what this one asked for. */
function existingEnded({ type, request }: FollowUp, order: Order): FollowUpEnd {
  const { hard } = echoDifferences(type, request, order);
  if (hard.length === 0) return ended(order);
  return { kind: 'unknown', how: `was started before, as another payment (${hard.join(', ')})` };
}

async function pollToFinal(run: OrderRun, { request }: FollowUp): Promise<Order> {
  const summary = `Follow ${request.order_id}, which was started before`;
  const reported: string[] = [];
  for (;;) {
    const input = {
      account: run.account,
      orderId: request.order_id,
      sentTo: run.sentTo,
      ...toleratedStatuses(reported),
    };
    const order = await ask(run, { summary }, ({ pollOrder }) => pollOrder(input));
    // A person is asked about it anyway.
    if ('silent' in order) continue;
    if (isFinal(order.status)) return order;
    reported.push(order.status);
  }
}
