import { workflowInfo } from '@temporalio/workflow';
import type { FieldError } from '../../contract/failures.js';
import {
  ACCOUNT_FORMAT,
  ORDER_ID_FORMAT,
  ORDER_UUID_FORMAT,
  orderWorkflowId,
  parseFollowUpOrderId,
  parseOrderWorkflowId,
  parseReceivedWorkflowId,
  receivedWorkflowId,
} from '../../contract/ids.js';
import type { ReceivedDepositInput } from '../../contract/order/input.js';
import { maskCards } from '../../contract/wallets.js';
import { closeWithoutOrder } from './end.js';
import type { OrderRun } from './run.js';

/** Ends a run that names one bad field. Throws InvalidOrder. */
export function refuseField(run: OrderRun, field: string, reason: string): never {
  const errors: FieldError[] = [{ field, reason: maskCards(reason) }];
  closeWithoutOrder(run, 'InvalidOrder', `${field}: ${reason}. Nothing was sent`, errors);
}

/** More levels than any order has; what is nested thousands deep cannot be handed on to an activity. */
const MAX_LEVELS = 50;

const isDeeperThan = (levels: number, value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((item) => isDeeperThan(levels - 1, item)));

/** True for a value that no activity could be handed. */
export const isTooDeep = (value: unknown): boolean => isDeeperThan(MAX_LEVELS, value);

/** True when this run was started with a time-out or as a cron job: both would end it in the middle. */
export function hasTimeLimit(): boolean {
  const { executionTimeoutMs, runTimeoutMs, cronSchedule } = workflowInfo();
  return Boolean(cronSchedule) || isShort(executionTimeoutMs) || isShort(runTimeoutMs);
}

/** True when this run is a follow-up started by the very order it extends; a received order is named by its uuid. */
export function isFollowUp(run: OrderRun): boolean {
  const followUp = parseFollowUpOrderId(run.orderId);
  const parent = workflowInfo().parent;
  if (!followUp || !parent) return false;
  const ordered = parseOrderWorkflowId(parent.workflowId);
  const received = parseReceivedWorkflowId(parent.workflowId);
  const parentId = ordered?.orderId ?? received?.orderUuid;
  return (ordered ?? received)?.account === run.account && parentId === followUp.parentOrderId;
}

/**
 * Refuses a run whose input and workflow id do not belong together: the id is what keeps an order from being run twice.
 * Checks just enough to get the input to the first activity, which validates every field. Throws InvalidOrder.
 */
export function checkIdentity(run: OrderRun): void {
  const { orderId } = run;
  checkInput(run, '{account?, order, …}');
  if (typeof run.request !== 'object' || run.request === null) refuseField(run, 'order', 'must be the create request');
  checkAccount(run);
  if (typeof orderId !== 'string' || !ORDER_ID_FORMAT.test(orderId.replace(/\.r\d{1,4}$/, ''))) {
    refuseField(run, 'order.order_id', 'must match [A-Za-z0-9._:-]{1,120}');
  }
  // A recovered run sends nothing, so the id cannot be used to pay beside the order it extends.
  if (/\.r\d+$/.test(orderId) && !isFollowUp(run) && !run.input.recovered) {
    refuseField(run, 'order.order_id', 'must not end in .r<digits>: those ids belong to follow-ups');
  }
  checkWorkflow(run, 'order.order_id', orderWorkflowId(run.account, orderId));
}

/** The same for a run that follows a received order. Throws InvalidOrder. */
export function checkReceivedIdentity(run: OrderRun, input: ReceivedDepositInput): void {
  checkInput(run, '{account?, ref, order_uuid, …}');
  checkAccount(run);
  const { order_uuid: orderUuid } = input;
  if (typeof orderUuid !== 'string' || !ORDER_UUID_FORMAT.test(orderUuid)) {
    refuseField(run, 'order_uuid', 'must match [A-Za-z0-9_-]{1,64}');
  }
  checkWorkflow(run, 'order_uuid', receivedWorkflowId(run.account, orderUuid));
}

function checkInput(run: OrderRun, shape: string): void {
  if (typeof run.input !== 'object' || run.input === null) refuseField(run, 'input', `must be an object ${shape}`);
  if (isTooDeep(run.input)) refuseField(run, 'input', 'is nested too deeply');
}

function checkAccount(run: OrderRun): void {
  if (typeof run.account !== 'string' || !ACCOUNT_FORMAT.test(run.account)) {
    refuseField(run, 'account', 'must match [a-z0-9-]{1,32}');
  }
}

function checkWorkflow(run: OrderRun, field: string, demandedId: string): void {
  if (hasTimeLimit()) {
    refuseField(
      run,
      'workflow',
      'must be started without execution or run time-out and without cron: a time-out would lose the order',
    );
  }
  if (workflowInfo().workflowId !== demandedId) {
    refuseField(run, field, `belongs to the workflow id ${demandedId}, not to this one. Start it under that id`);
  }
}

/** A time-out of years is none; some servers set one on every workflow. */
const isShort = (timeoutMs: number | undefined): boolean =>
  timeoutMs !== undefined && timeoutMs > 0 && timeoutMs < YEAR_MS;

const YEAR_MS = 365 * 86_400_000;
