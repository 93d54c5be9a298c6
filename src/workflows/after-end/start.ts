import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild, workflowInfo } from '@temporalio/workflow';
import { afterEndWorkflowId, ORDER_AFTER_END_WORKFLOW, searchAttribute } from '../../contract/names.js';
import type { AfterEndInput, AfterEndResult } from '../../contract/order/after-end.js';
import { isAdopted, type OrderRun } from '../order/state.js';

/** Time between the look-up at an order's end and the second one. */
export const AGAIN_AFTER_MS = 3_600_000;

/** True for an order with two sends that may have been made, whatever the doubt, or with a refusal after a send: one may be executed late. */
export function mayHaveBeenSentTwice(run: OrderRun): boolean {
  const { facts, order } = run;
  const isAccepted = order !== undefined && !isAdopted(run);
  return facts.everDoubted.length + (isAccepted ? 1 : 0) > 1;
}

/** Starts the look-ups of an order that ends and may have been sent twice; they outlive its run. */
export async function startLookUpsAfterEnd(run: OrderRun): Promise<void> {
  if (!mayHaveBeenSentTwice(run)) return;
  const input: AfterEndInput = { againAfterMs: AGAIN_AFTER_MS };
  try {
    await startChild<(input: AfterEndInput) => Promise<AfterEndResult>>(ORDER_AFTER_END_WORKFLOW, {
      workflowId: afterEndWorkflowId(workflowInfo().workflowId),
      args: [input],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary: `after the end of ${run.orderId}`,
      typedSearchAttributes: [{ key: searchAttribute.account, value: run.account }],
    });
  } catch (error) {
    // Those of an earlier run of this id are open still, and an operator is asked about them.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
