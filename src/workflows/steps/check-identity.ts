import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import type { FieldError } from '../../contract/failures.js';
import {
  ACCOUNT_FORMAT,
  ORDER_ID_FORMAT,
  orderWorkflowId,
  parseFollowUpOrderId,
  parseOrderWorkflowId,
} from '../../contract/ids.js';
import type { OrderRun } from './order-run.js';

function invalid(field: string, reason: string): never {
  const errors: FieldError[] = [{ field, reason }];
  throw ApplicationFailure.create({
    type: 'InvalidOrder',
    message: `${field}: ${reason}. Nothing was sent`,
    nonRetryable: true,
    details: [errors],
  });
}

/** True when this run is a follow-up started by the very order it extends. */
export function isFollowUp(run: OrderRun): boolean {
  const followUp = parseFollowUpOrderId(run.orderId);
  const parent = workflowInfo().parent;
  if (!followUp || !parent) return false;
  const parentOrder = parseOrderWorkflowId(parent.workflowId);
  return parentOrder?.account === run.account && parentOrder.orderId === followUp.parentOrderId;
}

/**
 * Refuses a run whose input and workflow id do not belong together: the id is what keeps an order from being run twice.
 * Checks just enough to get the input to the create activity, which validates every field. Throws InvalidOrder.
 */
export function checkIdentity(run: OrderRun): void {
  const { account, orderId } = run;
  if (typeof run.input !== 'object' || run.input === null) invalid('input', 'must be an object {account?, order, …}');
  if (typeof run.request !== 'object' || run.request === null) invalid('order', 'must be the create request');
  if (typeof account !== 'string' || !ACCOUNT_FORMAT.test(account)) invalid('account', 'must match [a-z0-9-]{1,32}');
  if (typeof orderId !== 'string' || !ORDER_ID_FORMAT.test(orderId.replace(/\.r\d{1,4}$/, ''))) {
    invalid('order.order_id', 'must match [A-Za-z0-9._:-]{1,120}');
  }
  if (/\.r\d+$/.test(orderId) && !isFollowUp(run)) {
    invalid('order.order_id', 'must not end in .r<digits>: those ids belong to follow-ups');
  }
  const demanded = orderWorkflowId(account, orderId);
  if (workflowInfo().workflowId !== demanded) {
    invalid('order.order_id', `belongs to the workflow id ${demanded}, not to this one. Start it under that id`);
  }
}
