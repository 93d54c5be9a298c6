import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ApplicationFailure,
  CancellationScope,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  condition,
  isCancellation,
  ParentClosePolicy,
  proxyActivities,
  startChild,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import { orderWorkflowId, workflowTypeOf } from '../../contract/ids.js';
import { orderSides } from '../../contract/order-sides.js';
import type { CompensationResult, Decision, OrderInput, OrderResult } from '../../contract/orders.js';
import { searchAttribute } from '../../contract/search-attributes.js';
import { type FinalStatus, isFinal } from '../../contract/status.js';
import type { FollowUp } from '../compensation/follow-up.js';
import { keepAsking } from './keep-asking.js';
import type { OrderRun } from './order-run.js';
import { park, parkUnless } from './park.js';
import { readOnly } from './profiles.js';

/** A follow-up that was started before and is not final after this long may be accepted as it is. */
const ASK_AFTER_MS = 15 * 60_000;

/** What became of a follow-up, as the result names it. */
type FollowUpEnd = Pick<CompensationResult, 'status' | 'reason' | 'outcome'>;

/** How it ended; without `outcome`, `how` says why none is known. `accepted`: a person did not wait for it. */
interface Ending {
  outcome?: FinalStatus;
  how: string;
  accepted?: Decision;
}

/**
 * Runs a follow-up to its end as a child of its own: it outlives this workflow, is started once per order id whatever
 * happens here, and is followed by look-up where it exists already. One that does not complete parks its parent.
 */
export async function runFollowUp(run: OrderRun, followUp: FollowUp): Promise<FollowUpEnd> {
  const { outcome, how, accepted } = await startOrFollow(run, followUp);
  if (outcome === 'completed') return { status: 'done', outcome };
  const { by, reason } = accepted ?? (await park(run, `the follow-up ${followUp.request.order_id} ${how}`, ['accept']));
  return { status: 'failed', reason: `${how}; accepted by ${by}: ${reason}`, ...(outcome && { outcome }) };
}

async function startOrFollow(run: OrderRun, followUp: FollowUp): Promise<Ending> {
  try {
    const child = await startChild<(input: OrderInput) => Promise<OrderResult>>(
      workflowTypeOf(followUp.type),
      childOptions(run, followUp),
    );
    return ended((await child.result()).outcome);
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return followExisting(run, followUp);
    if (!(error instanceof ChildWorkflowFailure)) throw error;
    const cause = error.cause;
    // A stopped workflow proves nothing about its order: only the failures of an order say that there is none.
    return {
      how:
        cause instanceof ApplicationFailure ? `came to no order (${cause.type})` : 'was stopped: its order may exist',
    };
  }
}

const ended = (outcome: FinalStatus): Ending => ({ outcome, how: `ended ${outcome}` });

function childOptions(run: OrderRun, { type, request }: FollowUp) {
  const { currencyFrom, currencyTo } = orderSides(type, request);
  const input: OrderInput = {
    account: run.account,
    order: request,
    compensation: 'report',
    ...(run.input.resend && { resend: run.input.resend }),
    ...(run.input.batchId && { batchId: run.input.batchId }),
  };
  return {
    workflowId: orderWorkflowId(run.account, request.order_id),
    args: [input] as [OrderInput],
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    // A payout in flight must outlive its parent, however the parent ends.
    parentClosePolicy: ParentClosePolicy.ABANDON,
    cancellationType: ChildWorkflowCancellationType.ABANDON,
    staticSummary: `follow-up ${type} of ${run.orderId}`,
    typedSearchAttributes: [
      { key: searchAttribute.account, value: run.account },
      { key: searchAttribute.orderStatus, value: 'open' },
      { key: searchAttribute.currencyFrom, value: currencyFrom },
      { key: searchAttribute.currencyTo, value: currencyTo },
      ...(run.input.batchId ? [{ key: searchAttribute.batchId, value: run.input.batchId }] : []),
    ],
  };
}

/**
 * Another run started it: its result is not to be had here, but the service tells how it ended. It may also have come to
 * no order, which no poll can tell from "not yet": after a while a person may accept that, while the polling goes on.
 */
async function followExisting(run: OrderRun, followUp: FollowUp): Promise<Ending> {
  const polling = new CancellationScope();
  const seen: { outcome?: FinalStatus } = {};
  polling
    .run(() => pollToFinal(run, followUp))
    .then(
      (outcome) => {
        seen.outcome = outcome;
      },
      (error: unknown) => {
        if (!isCancellation(error)) throw error;
      },
    );
  await condition(() => seen.outcome !== undefined, ASK_AFTER_MS);
  if (seen.outcome) return ended(seen.outcome);
  const reason = `the follow-up ${followUp.request.order_id} was started before and shows no final status yet`;
  const accepted = await parkUnless(run, reason, ['accept'], () => seen.outcome !== undefined);
  if (!accepted) return { outcome: seen.outcome, how: 'ended otherwise' };
  polling.cancel();
  return { how: 'showed no final status', accepted };
}

async function pollToFinal(run: OrderRun, { request }: FollowUp): Promise<FinalStatus> {
  const { pollOrder } = proxyActivities<Activities>({
    ...readOnly(run.account),
    summary: `Follow ${request.order_id}, which was started before`,
  });
  const toleratedStatuses: string[] = [];
  for (;;) {
    const input = {
      account: run.account,
      orderId: request.order_id,
      ...(run.host && { host: run.host }),
      firstDelayMs: 0,
      toleratedStatuses,
    };
    const { status } = await keepAsking(run, () => pollOrder(input));
    if (isFinal(status)) return status;
    toleratedStatuses.push(status);
  }
}
