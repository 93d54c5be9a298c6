import { workflowInfo } from '@temporalio/workflow';
import { parseAfterEndWorkflowId } from '../contract/names.js';
import type { AfterEndInput, AfterEndResult } from '../contract/order/after-end.js';
import type { WithdrawRequest } from '../contract/order/request.js';
import { lookAfterEnd } from './after-end/look.js';
import { invalidInput } from './identity.js';
import { runAfterEnd } from './order/frame.js';
import { openRun } from './order/state.js';

/** Looks an order up after its run has ended; asks an operator about a change. Moves no money. */
export async function orderAfterEnd(input?: AfterEndInput): Promise<AfterEndResult> {
  const about = parseAfterEndWorkflowId(workflowInfo().workflowId);
  if (!about)
    throw invalidInput([{ field: 'workflow', reason: 'its id must name an ended order' }], 'Nothing was sent');
  const { account, orderId, ended } = about;
  // Unknown until the service shows it; payouts have the longest settle window.
  const run = openRun('withdraw', { account, order: { order_id: orderId } as WithdrawRequest });
  run.phase = 'following';
  run.waitingFor = 'a look-up of the order after its end';
  return runAfterEnd(run, (opened) => lookAfterEnd(opened, ended, input?.againAfterMs));
}
