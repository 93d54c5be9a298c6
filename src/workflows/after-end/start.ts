import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild, workflowInfo } from '@temporalio/workflow';
import { afterEndWorkflowId, ORDER_AFTER_END_WORKFLOW, searchAttribute } from '../../contract/names.js';
import type { AfterEndInput, AfterEndResult } from '../../contract/order/after-end.js';
import { factsOf } from '../../contract/order/types.js';
import { isAdopted, type OrderRun } from '../order/state.js';

/** Time between the look-up at an order's end and the second one. */
export const AGAIN_AFTER_MS = 3_600_000;

/**
 * True for an order with two sends that may have been made, or for a payout whose refusal no later order confirms: what the
 * service does not show at the end may be shown afterwards.
 */
export function mayBeShownLater(run: OrderRun): boolean {
  const { facts, order } = run;
  const isAccepted = order !== undefined && !isAdopted(run);
  const isRefused = !order && factsOf(run.type).movesMoneyAtOnce && facts.refused !== undefined;
  const isUnconfirmed = isRefused && !facts.absence?.control.later;
  return isUnconfirmed || facts.everDoubted.length + (isAccepted ? 1 : 0) > 1;
}

/** Starts the look-ups of an order that ends and may be shown later; they outlive its run. */
export async function startLookUpsAfterEnd(run: OrderRun): Promise<void> {
  if (!mayBeShownLater(run)) return;
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
