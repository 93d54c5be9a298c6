import { workflowInfo } from '@temporalio/workflow';
import type { FieldError } from '../../contract/failures.js';
import {
  ACCOUNT_FORMAT,
  ORDER_ID_FORMAT,
  orderWorkflowId,
  parseFollowUpOrderId,
  parseOrderWorkflowId,
} from '../../contract/ids.js';
import { closeWithoutOrder } from './close.js';
import type { OrderRun } from './order-run.js';

function invalid(run: OrderRun, field: string, reason: string): never {
  const errors: FieldError[] = [{ field, reason }];
  closeWithoutOrder(run, 'InvalidOrder', `${field}: ${reason}. Nothing was sent`, errors);
}

/** More levels than any order has; what is nested thousands deep cannot be handed on to an activity. */
const MAX_LEVELS = 50;

const isDeeperThan = (levels: number, value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((item) => isDeeperThan(levels - 1, item)));

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
  if (typeof run.input !== 'object' || run.input === null)
    invalid(run, 'input', 'must be an object {account?, order, …}');
  if (isDeeperThan(MAX_LEVELS, run.input)) invalid(run, 'input', 'is nested too deeply');
  if (typeof run.request !== 'object' || run.request === null) invalid(run, 'order', 'must be the create request');
  if (typeof account !== 'string' || !ACCOUNT_FORMAT.test(account))
    invalid(run, 'account', 'must match [a-z0-9-]{1,32}');
  if (typeof orderId !== 'string' || !ORDER_ID_FORMAT.test(orderId.replace(/\.r\d{1,4}$/, ''))) {
    invalid(run, 'order.order_id', 'must match [A-Za-z0-9._:-]{1,120}');
  }
  if (/\.r\d+$/.test(orderId) && !isFollowUp(run)) {
    invalid(run, 'order.order_id', 'must not end in .r<digits>: those ids belong to follow-ups');
  }
  const { executionTimeoutMs, runTimeoutMs, cronSchedule } = workflowInfo();
  if (cronSchedule || isShort(executionTimeoutMs) || isShort(runTimeoutMs)) {
    invalid(
      run,
      'workflow',
      'must be started without execution or run time-out and without cron: a time-out would lose the order',
    );
  }
  const demanded = orderWorkflowId(account, orderId);
  if (workflowInfo().workflowId !== demanded) {
    invalid(run, 'order.order_id', `belongs to the workflow id ${demanded}, not to this one. Start it under that id`);
  }
}

/** A time-out of years is none; some servers set one on every workflow. */
const isShort = (timeoutMs: number | undefined): boolean =>
  timeoutMs !== undefined && timeoutMs > 0 && timeoutMs < YEAR_MS;

const YEAR_MS = 365 * 86_400_000;
