import { ApplicationFailure, metricMeter, sleep, workflowInfo } from '@temporalio/workflow';
import { type EndedHeld, ORDER_UNRESOLVED, type OrderFailure, type SentBefore } from '../../contract/failures.js';
import {
  afterEndWorkflowId,
  CANARY_WORKFLOW,
  ORDER_AFTER_END_WORKFLOW,
  ORDER_CALLBACK_SIGNAL,
} from '../../contract/names.js';
import type { AfterEndInput } from '../../contract/order/after-end.js';
import { differenceOf, type OrderResult } from '../../contract/order/input-and-result.js';
import { isFinal } from '../../contract/service-objects.js';
import { maskWallets } from '../../contract/wallets.js';
import { isHeld } from '../create/facts.js';
import { isCanary } from '../identity.js';
import { learnReceivers } from '../outbox.js';
import { signalOrStart } from '../signal-or-start.js';
import { marksOf } from './payment.js';
import { enterDone } from './show.js';
import { foundAs, isAdopted, type OrderRun, orderIdOf } from './state.js';

/** How a run ends without an order. Only with 'OrderUnresolved' an order may exist. */
export type Closed = [type: OrderFailure | typeof ORDER_UNRESOLVED, message: string, ...details: unknown[]];

/** Ends the workflow without an order. Throws the failure that callers see. */
export function close(run: OrderRun, ...[type, message, ...details]: Closed): never {
  const failure = failureOf(run, [type, message, ...learnReceivers(run.outbox, details)]);
  enterDone(run, failure.type === ORDER_UNRESOLVED ? 'unresolved' : 'none');
  throw failure;
}

export function failureOf({ sentTo, facts }: OrderRun, [type, message, ...details]: Closed): ApplicationFailure {
  // A restart needs the account to prove absence there.
  const isPinned = sentTo && (type === 'OrderRejected' || type === 'OrderAbsent');
  // Only a person has it sent again after an account that an operator confirmed.
  const isAsked = facts.everDoubted.every(({ place }) => place === 'asked');
  const before: SentBefore[] = isPinned ? [isAsked ? { sentTo } : { accountUnknown: true }] : [];
  // A restart must not end a hold.
  const held: EndedHeld[] = isHeld(facts) && facts.blocked ? [{ held: facts.blocked.why }] : [];
  const handedOn = [...details, ...held, ...before];
  return ApplicationFailure.create({ type, message: maskWallets(message), nonRetryable: true, details: handedOn });
}

/** Returns the workflow's result: the first final look-up, and what was done about it. */
export function resultOf(
  run: OrderRun,
  about: Pick<OrderResult, 'remainder' | 'remainderUnknown' | 'compensation'>,
): OrderResult {
  const order = run.finalOrder;
  if (!order || !isFinal(order.status)) throw new Error('a result needs a final order');
  const difference = differenceOf(order);
  const { acceptedDifferences = [], soft = [] } = foundAs(run) ?? {};
  const differences = [...acceptedDifferences, ...soft];
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
    ...marksOf(run),
  };
}

const AGAIN_AFTER_MS = 3_600_000;
/** Wait after look-ups could not be started. */
const FIRST_WAIT_MS = 60_000;

/**
 * Returns true if the service may show an order later: after two possible sends, or for a refused
 * order that no later one confirms.
 */
export function mayBeShownLater(run: OrderRun): boolean {
  const { facts, order } = run;
  const isAccepted = order !== undefined && !isAdopted(run);
  const isRefused = !order && facts.refused !== undefined;
  const isUnconfirmed = isRefused && !facts.absence?.control.later;
  return isUnconfirmed || facts.everDoubted.length + (isAccepted ? 1 : 0) > 1;
}

/** Starts look-ups after the end of an order that may be shown later. They outlive its run. */
export async function startLookUpsAfterEnd(run: OrderRun): Promise<void> {
  if (mayBeShownLater(run)) await startLookUps(run);
}

/** Starts look-ups after the end, or signals those of an earlier run that are still open. */
export async function startLookUps(run: OrderRun): Promise<void> {
  const started: AfterEndInput = { againAfterMs: AGAIN_AFTER_MS };
  const workflowId = afterEndWorkflowId(workflowInfo().workflowId);
  const { account } = run;
  const target = {
    ...{ type: ORDER_AFTER_END_WORKFLOW, workflowId, account, started },
    ...{ signal: ORDER_CALLBACK_SIGNAL, signalled: {}, summary: `after the end of ${orderIdOf(run)}` },
  };
  // Without them, nobody would look again: the run stays open until they are started.
  for (let waitMs = FIRST_WAIT_MS; (await signalOrStart(target, false)) === false; waitMs = 2 * waitMs)
    await sleep(Math.min(waitMs, AGAIN_AFTER_MS), { summary: 'Until look-ups after the end can be started' });
}

export function countEnd(run: OrderRun, outcome: string): void {
  const { account } = run;
  const type = isCanary(run) ? CANARY_WORKFLOW : run.type;
  metricMeter
    .createCounter('payment_orders_ended_total', undefined, 'orders that ended')
    .add(1, { type, account, outcome });
}

/** Records the time from a callback to the final status, by the workflow's clock. */
export function countCallback({ account }: OrderRun, callbackAtMs: number): void {
  metricMeter
    .createHistogram('payment_orders_callback_to_final_seconds', 'float', 's', 'from a callback to the final status')
    .record((Date.now() - callbackAtMs) / 1_000, { account });
}
