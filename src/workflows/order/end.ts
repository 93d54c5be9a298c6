import { ApplicationFailure } from '@temporalio/workflow';
import { ORDER_UNRESOLVED, type OrderFailure, type SentBefore } from '../../contract/failures.js';
import { type Amount, decimal, toAmount } from '../../contract/money.js';
import type { OrderResult } from '../../contract/order/input-and-result.js';
import { isFinal, type Order } from '../../contract/service-objects.js';
import { maskWallets } from '../../contract/wallets.js';
import { enterDone } from './show.js';
import { isAdopted, type OrderRun, takenAs } from './state.js';

/** How a run ends without an order: 'OrderUnresolved' by a person's decision though one may exist, all else because none does. */
export interface Closed {
  kind: 'closed';
  type: OrderFailure | typeof ORDER_UNRESOLVED;
  message: string;
  details?: unknown[];
}

/** Ends the workflow without an order. Throws the failure that callers will see. */
export function close(run: OrderRun, end: Closed): never {
  enterDone(run, end.type === ORDER_UNRESOLVED ? 'unresolved' : 'none');
  throw failureOf(run, end);
}

/** The failure that callers will see. */
export function failureOf(run: OrderRun, { type, message, details = [] }: Closed): ApplicationFailure {
  const handedOn = [...details, ...sentBefore(run, type)];
  return ApplicationFailure.create({ type, message: maskWallets(message), nonRetryable: true, details: handedOn });
}

/** Ends the workflow because no order of ours exists at the service. Throws the failure that callers will see. */
export function closeWithoutOrder(run: OrderRun, type: OrderFailure, message: string, ...details: unknown[]): never {
  close(run, closed(type, message, details));
}

/** For a run that is started again: only there can be seen what became of the creates of this one. */
const sentBefore = ({ sentTo }: OrderRun, type: Closed['type']): SentBefore[] =>
  sentTo && (type === 'OrderRejected' || type === 'OrderAbsent') ? [{ sentTo }] : [];

/** An end without an order, as steps hand it on. */
export const closed = (type: Closed['type'], message: string, details?: unknown[]): Closed => ({
  kind: 'closed',
  type,
  message,
  details,
});

/** Cancelled before anything was sent. */
export const cancelled = ({ orderId }: Pick<OrderRun, 'orderId'>): Closed =>
  closed('OrderCancelled', `order ${orderId} was cancelled before anything was sent`);

/** Actual − expected; undefined where there is no actual amount or no difference. */
function differenceOf(actual: Amount | null, expected: Amount): Amount | undefined {
  if (actual === null) return undefined;
  const difference = decimal(actual).minus(decimal(expected));
  return difference.eq(0) ? undefined : toAmount(difference);
}

/** A completed order may differ from what was asked for (underpaid deposit, strict payout at another rate). */
function differencesOf(order: Order): OrderResult['difference'] {
  const from = differenceOf(order.amount_from, order.expected_amount_from);
  const to = differenceOf(order.amount_to, order.expected_amount_to);
  return from || to ? { ...(from && { from }), ...(to && { to }) } : undefined;
}

/** Puts the workflow's result together: what the first final look-up showed, and what was done about it. */
export function resultOf(
  run: OrderRun,
  about: Pick<OrderResult, 'remainder' | 'remainderUnknown' | 'compensation'>,
): OrderResult {
  const order = run.finalOrder;
  if (!order || !isFinal(order.status)) throw new Error('a result needs a final order');
  const difference = differencesOf(order);
  const { overruled = [], soft = [] } = takenAs(run) ?? {};
  const differences = [...overruled, ...soft];
  return {
    outcome: order.status,
    order,
    adopted: isAdopted(run),
    ...(run.notes && { notes: run.notes }),
    ...(differences.length > 0 && { echoDifferences: differences }),
    ...(difference && { difference }),
    ...(about.remainder?.length && { remainder: about.remainder }),
    ...(about.remainderUnknown && { remainderUnknown: about.remainderUnknown }),
    ...(about.compensation && { compensation: about.compensation }),
    ...(run.decisions.length > 0 && { decisions: run.decisions }),
  };
}
