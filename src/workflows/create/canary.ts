import {
  ChildWorkflowCancellationType,
  ParentClosePolicy,
  sleep,
  startChild,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import { CANARY_REFERENCE, canaryWorkflowId, orderWorkflowId } from '../../contract/names.js';
import { type CanaryInput, canaryId } from '../../contract/order/canary.js';
import type { OrderInput, OrderResult } from '../../contract/order/input-and-result.js';
import { startAttributes, workflowTypeOf } from '../../contract/order/types.js';
import { checkAccount, checkInput, checkWorkflowId, refuseInput } from '../identity.js';

/** Maximum, because anybody may start this workflow. */
const LONGEST_MS = 86_400_000;

/** Sends one canary, and stays open for a window, in which no worker sends another one. */
export async function canary(input: CanaryInput): Promise<void> {
  checkInput(refuseInput, input, '{account, orderId, …}');
  const { account, orderId, currency, network, amount, windowMs } = input;
  checkAccount(refuseInput, account);
  checkWorkflowId(refuseInput, 'account', canaryWorkflowId(account));
  const order = { order_id: canaryId(String(orderId), Date.now()), currency, network, amount };
  const deposit: OrderInput<'deposit'> = { account, order, reference: CANARY_REFERENCE, resend: 'never' };
  await startChild<(input: OrderInput<'deposit'>) => Promise<OrderResult>>(workflowTypeOf('deposit'), {
    workflowId: orderWorkflowId(account, order.order_id),
    args: [deposit],
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    parentClosePolicy: ParentClosePolicy.ABANDON,
    cancellationType: ChildWorkflowCancellationType.ABANDON,
    staticSummary: `canary of account ${account}: a deposit that nobody pays`,
    typedSearchAttributes: startAttributes('deposit', account, order, deposit),
  });
  await sleep(Math.min(windowMs, LONGEST_MS), { summary: 'No other canary is sent meanwhile' });
}
