import { ApplicationFailure } from '@temporalio/workflow';
import { ORDER_UNRESOLVED, type OrderFailure, type SentBefore } from '../../contract/failures.js';
import { maskCards } from '../../contract/wallets.js';
import { enterDone } from './attention.js';
import type { OrderRun } from './run.js';

/** Ends the workflow because no order of ours exists at the service. Throws the failure that callers will see. */
export function closeWithoutOrder(run: OrderRun, type: OrderFailure, message: string, ...details: unknown[]): never {
  enterDone(run, 'none');
  const handedOn = [...details, ...sentBefore(run, type)];
  throw ApplicationFailure.create({ type, message: maskCards(message), nonRetryable: true, details: handedOn });
}

/** For a run that is started again: only there can be seen what became of the creates of this one. */
const sentBefore = ({ sentTo }: OrderRun, type: OrderFailure): SentBefore[] =>
  sentTo && (type === 'OrderRejected' || type === 'OrderAbsent') ? [{ sentTo }] : [];

/** Ends the workflow by a person's decision, though it is not known whether an order of ours exists. Throws. */
export function closeUnresolved(run: OrderRun, message: string): never {
  enterDone(run, 'unresolved');
  throw ApplicationFailure.create({ type: ORDER_UNRESOLVED, message: maskCards(message), nonRetryable: true });
}

/** Cancelled before anything was sent. */
export function closeCancelled(run: OrderRun): never {
  closeWithoutOrder(run, 'OrderCancelled', `order ${run.orderId} was cancelled before anything was sent`);
}
