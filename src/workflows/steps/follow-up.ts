import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ApplicationFailure,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  ParentClosePolicy,
  proxyActivities,
  startChild,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import { orderWorkflowId, workflowTypeOf } from '../../contract/ids.js';
import { orderSides } from '../../contract/order-sides.js';
import type { CompensationResult, OrderInput, OrderResult } from '../../contract/orders.js';
import { searchAttribute } from '../../contract/search-attributes.js';
import { type FinalStatus, isFinal } from '../../contract/status.js';
import type { FollowUp } from '../compensation/follow-up.js';
import type { OrderRun } from './order-run.js';
import { readOnly } from './profiles.js';

/** How a follow-up ended. `done` = it completed; otherwise `reason` says what happened instead. */
export interface FollowUpEnd {
  done: boolean;
  reason: string;
  result: Pick<CompensationResult, 'outcome'>;
}

/**
 * Runs a follow-up to its end as a child of its own: it outlives this workflow, is started once per order id whatever
 * happens here, and is followed by look-up where it exists already.
 */
export async function runFollowUp(run: OrderRun, followUp: FollowUp): Promise<FollowUpEnd> {
  try {
    const child = await startChild<(input: OrderInput) => Promise<OrderResult>>(
      workflowTypeOf(followUp.type),
      childOptions(run, followUp),
    );
    const { outcome } = await child.result();
    return ended(outcome);
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return ended(await followExisting(run, followUp));
    if (!(error instanceof ChildWorkflowFailure)) throw error;
    const cause = error.cause;
    const type = cause instanceof ApplicationFailure ? cause.type : undefined;
    return { done: false, reason: `came to no order (${type ?? 'its workflow was stopped'})`, result: {} };
  }
}

const ended = (outcome: FinalStatus): FollowUpEnd => ({
  done: outcome === 'completed',
  reason: `ended ${outcome}`,
  result: { outcome },
});

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

/** Another run started it: its result is not to be had here, but the service tells how it ended. */
async function followExisting(run: OrderRun, { request }: FollowUp): Promise<FinalStatus> {
  const { pollOrder } = proxyActivities<Activities>({
    ...readOnly(run.account),
    summary: `Follow ${request.order_id}, which was started before`,
  });
  const toleratedStatuses: string[] = [];
  for (;;) {
    const { status } = await pollOrder({
      account: run.account,
      orderId: request.order_id,
      ...(run.host && { host: run.host }),
      firstDelayMs: 0,
      toleratedStatuses,
    });
    if (isFinal(status)) return status;
    toleratedStatuses.push(status);
  }
}
