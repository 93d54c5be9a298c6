import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import type { DepositAddressInput } from '../contract/address/address.js';
import { describeFieldErrors, type FieldError, INVALID_INPUT, ORDER_UNRESOLVED } from '../contract/failures.js';
import {
  ACCOUNT_FORMAT,
  ADDRESS_REF_FORMAT,
  addressWorkflowId,
  CANARY_REFERENCE,
  canaryWorkflowId,
  DEFAULT_ACCOUNT,
  ORDER_ID_FORMAT,
  ORDER_UUID_FORMAT,
  orderWorkflowId,
  parseFollowUpOrderId,
  parseOrderWorkflowId,
  parseReceivedWorkflowId,
  receivedWorkflowId,
  reconcileWorkflowId,
} from '../contract/names.js';
import type { ReceivedDepositInput } from '../contract/order/input-and-result.js';
import { holdsWallet, maskWallets, NO_WALLET } from '../contract/wallets.js';
import { isDeeperThan } from './order/decision.js';
import { close } from './order/end.js';
import { mayHaveSent, type OrderRun, orderIdOf } from './order/state.js';

/*
 * A run continues only under the workflow id of its input, so that no order runs twice. The first
 * activity validates every field.
 */

/** Returns true in a run that a reset made. Asked only where another run would end. */
export const isReset = (): boolean => workflowInfo().runId !== workflowInfo().originalExecutionRunId;

/** Returns false for a receipt, which moves none of our money, and for look-ups after an end. */
export const isOrderRun = (): boolean => parseOrderWorkflowId(workflowInfo().workflowId) !== undefined;

export type Refuse = (field: string, reason: string) => never;

/** Returns the failure of bad input of a workflow that is no order. */
export const invalidInput = (errors: FieldError[], so: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(`${describeFieldErrors(errors)}. ${so}`, INVALID_INPUT, errors);

/** Fails a run that is no order, because of one field of its input. */
export const refuseInput: Refuse = (field, reason) => {
  const so = isReset() ? 'This run sent nothing, an earlier one may have' : 'Nothing was sent';
  throw invalidInput([{ field, reason: maskWallets(reason) }], so);
};

const refuseOrder =
  (run: OrderRun): Refuse =>
  (field, reason) => {
    const errors: FieldError[] = [{ field, reason: maskWallets(reason) }];
    if (!mayHaveSent(run)) close(run, 'InvalidOrder', `${field}: ${reason}. Nothing was sent`, errors);
    close(run, ORDER_UNRESOLVED, `${field}: ${reason}. This run sent nothing, an earlier one may have`);
  };

/** Checks an order's identity. Throws InvalidOrder, or OrderUnresolved if it may have been sent. */
export function checkOrder(run: OrderRun): void {
  const refuse: Refuse = refuseOrder(run);
  const orderId = orderIdOf(run);
  checkOrderShape(refuse, run.input);
  checkAccount(refuse, run.account);
  if (typeof orderId !== 'string' || !ORDER_ID_FORMAT.test(orderId.replace(/\.r\d{1,4}$/, ''))) {
    refuse('order.order_id', 'must match [A-Za-z0-9._:-]{1,120}');
  }
  if (!isFollowUp(run)) {
    const { batchId, reference } = run.input;
    for (const [field, name] of Object.entries({ 'order.order_id': orderId, batchId, reference })) {
      if (typeof name === 'string') checkShownName(refuse, field, name);
    }
  }
  // A recovered run sends nothing, so the id cannot be used to pay beside the order it extends.
  if (/\.r\d+$/.test(orderId) && !isFollowUp(run) && !run.input.recovered) {
    refuse('order.order_id', 'must not end in .r<digits>: those ids belong to follow-ups');
  }
  checkNoTimeLimit(refuse, 'a time-out would lose the order');
  checkWorkflowId(refuse, 'order.order_id', orderWorkflowId(run.account, orderId));
}

/** Checks the identity of a run that follows a received order. Throws InvalidOrder. */
export function checkReceived(run: OrderRun, input: ReceivedDepositInput): void {
  const refuse: Refuse = refuseOrder(run);
  checkInput(refuse, run.input, '{account?, ref, order_uuid, …}');
  checkAccount(refuse, run.account);
  const { order_uuid: orderUuid } = input;
  if (typeof orderUuid !== 'string' || !ORDER_UUID_FORMAT.test(orderUuid)) {
    refuse('order_uuid', 'must match [A-Za-z0-9_-]{1,64}');
  }
  checkNoTimeLimit(refuse, 'a time-out would lose the order');
  checkWorkflowId(refuse, 'order_uuid', receivedWorkflowId(run.account, orderUuid));
}

/** Checks the identity of a deposit address and returns its account. Throws InvalidInput. */
export function checkAddress(input: DepositAddressInput): string {
  const account = checkedAccount(input);
  if (typeof input?.ref !== 'string' || !ADDRESS_REF_FORMAT.test(input.ref)) {
    refuseInput('ref', 'must match [A-Za-z0-9_-]{1,64}');
  }
  checkShownName(refuseInput, 'ref', input.ref);
  checkWorkflowId(refuseInput, 'ref', addressWorkflowId(account, input.ref));
  return account;
}

export function checkReconcile(account: string): void {
  const demanded = reconcileWorkflowId(account);
  // A schedule appends the time to its id.
  if (!workflowInfo().workflowId.startsWith(`${demanded}-`)) checkWorkflowId(refuseInput, 'account', demanded);
}

export function checkedAccount(input: { account?: string } | undefined): string {
  const account = input?.account ?? DEFAULT_ACCOUNT;
  checkAccount(refuseInput, account);
  return account;
}

/** Returns true in a follow-up that the order it extends has started. */
export function isFollowUp({ request, account }: Pick<OrderRun, 'request' | 'account'>): boolean {
  const orderId: unknown = request?.order_id;
  const followUp = typeof orderId === 'string' ? parseFollowUpOrderId(orderId) : undefined;
  const parent = workflowInfo().parent;
  if (!followUp || !parent) return false;
  const ordered = parseOrderWorkflowId(parent.workflowId);
  const received = parseReceivedWorkflowId(parent.workflowId);
  const parentId = ordered?.orderId ?? received?.orderUuid;
  return (ordered ?? received)?.account === account && parentId === followUp.extendsOrderId;
}

/** Returns true in a canary's order. It asks nobody, sends no event, and is sent at most once. */
export const isCanary = ({ account, type, input }: Pick<OrderRun, 'account' | 'type' | 'input'>): boolean =>
  type === 'deposit' &&
  input?.reference === CANARY_REFERENCE &&
  workflowInfo().parent?.workflowId === canaryWorkflowId(account);

/** Returns true if a time-out or a cron would end this run early. */
export function hasTimeLimit(): boolean {
  const { executionTimeoutMs, runTimeoutMs, cronSchedule } = workflowInfo();
  return Boolean(cronSchedule) || isShort(executionTimeoutMs) || isShort(runTimeoutMs);
}

const YEAR_MS = 365 * 86_400_000;

/** Some servers set a time-out of years on every workflow. */
const isShort = (timeoutMs: number | undefined): boolean =>
  timeoutMs !== undefined && timeoutMs > 0 && timeoutMs < YEAR_MS;

const MAX_LEVELS = 50;

/** Refuses an order's input that is no object with a create request. */
export function checkOrderShape(refuse: Refuse, input: unknown): void {
  checkInput(refuse, input, '{account?, order, …}');
  const { order } = Object(input) as { order?: unknown };
  if (typeof order !== 'object' || order === null) refuse('order', 'must be the create request');
}

/** Refuses input that is no object, or too deep for activities. */
export function checkInput(refuse: Refuse, input: unknown, shape: string): void {
  if (typeof input !== 'object' || input === null) refuse('input', `must be an object ${shape}`);
  if (isDeeperThan(MAX_LEVELS, input)) refuse('input', 'is nested too deeply');
}

export function checkAccount(refuse: Refuse, account: unknown): void {
  if (typeof account !== 'string' || !ACCOUNT_FORMAT.test(account)) refuse('account', 'must match [a-z0-9-]{1,32}');
  checkShownName(refuse, 'account', account);
}

/** Refuses a name that search attributes, failures and logs must not show. */
export function checkShownName(refuse: Refuse, field: string, name: string): void {
  if (holdsWallet(name)) refuse(field, NO_WALLET);
}

export function checkNoTimeLimit(refuse: Refuse, why: string): void {
  if (hasTimeLimit()) refuse('workflow', `must be started without execution or run time-out and without cron: ${why}`);
}

/** Refuses another workflow id than the one that the input demands. */
export function checkWorkflowId(refuse: Refuse, field: string, demanded: string): void {
  if (workflowInfo().workflowId === demanded) return;
  refuse(field, `belongs to the workflow id ${demanded}, not to this one. Start it under that id`);
}
