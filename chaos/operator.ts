import { setTimeout as sleep } from 'node:timers/promises';
import { ORDER_TYPES, workflowTypeOf } from '../src/contract/order/types.js';
import {
  NoWorkerError,
  type OrderHandle,
  type OrderListEntry,
  type OrderState,
  type PaymentOrders,
  RefusedError,
  TemporalUnreachableError,
} from '../src/index.js';
import { canary } from './canaries.js';
import type { Choice } from './evidence/evidence.js';
import { restartWorkers } from './healing.js';
import type { ChaosStack } from './stack.js';

/** How often the operator looks at the list of parked orders. */
const ROUND_MS = 2_000;
/** A key is given longer than the server waits between two attempts of a look-up (a minute): before that, orders say what was true of the one before. */
const TURN_MS = 70_000;
/** Longer than settling takes. */
const STILL_MS = 25_000;
/** An order's account is healed once its key is back: to the other account, and to the right one again. */
const MAX_TURNS = 2;

/** What the operator saw and did. */
export interface OperatorReport {
  /** Parks by reason, ids and figures left out. */
  parks: Map<string, number>;
  /** Decisions taken, by action. */
  decisions: Map<string, number>;
  /** The same, each with the order's workflow. */
  choices: Choice[];
  /** How long after healing the last order was final, ms; undefined when some never were. */
  allFinalAfterMs?: number;
}

/** Selects the workflows of orders. */
export const ORDER_TYPES_QUERY = `WorkflowType IN (${ORDER_TYPES.map((type) => `'${workflowTypeOf(type)}'`).join(', ')})`;

/** Number of order workflows that are open, or closed, as Temporal's visibility shows it. */
export async function countOrders(orders: PaymentOrders, which: 'open' | 'closed'): Promise<number> {
  const status = which === 'open' ? "ExecutionStatus = 'Running'" : "ExecutionStatus != 'Running'";
  return (await orders.client.workflow.count(`${ORDER_TYPES_QUERY} AND ${status}`)).count;
}

/**
 * Waits until every order is final, deciding the parked ones through the library. Gives up once none has ended for `limitMs`. Orders
 * that were sent with the other account's key say that it has to be set back: it is, by turns, when nothing moves. `report`: what
 * was seen and done before, which is added to.
 */
export async function operate(
  stack: ChaosStack,
  healedAtMs: number,
  limitMs: number,
  report: OperatorReport = { parks: new Map(), decisions: new Map(), choices: [] },
): Promise<OperatorReport> {
  const { orders } = stack;
  let last = { open: Number.POSITIVE_INFINITY, atMs: Date.now() };
  let turns = { made: 0, lastAtMs: healedAtMs };
  let swappedAtMs = healedAtMs;
  let fewest = { open: Number.POSITIVE_INFINITY, atMs: healedAtMs };
  while (Date.now() - Math.max(fewest.atMs, turns.lastAtMs) < limitMs) {
    await decideParked(orders, report, { isRight: stack.accounts.isRight });
    const open = await countOrders(orders, 'open');
    if (open === 0) return { ...report, allFinalAfterMs: Date.now() - healedAtMs };
    if (open !== last.open) last = { open, atMs: Date.now() };
    if (open < fewest.open) fewest = last;
    if (Date.now() - swappedAtMs > TURN_MS && Date.now() - last.atMs > STILL_MS) {
      await stack.accounts.swap();
      await restartWorkers(stack);
      swappedAtMs = Date.now();
      last = { open, atMs: swappedAtMs };
      if (turns.made < MAX_TURNS) turns = { made: turns.made + 1, lastAtMs: Date.now() };
    }
    await sleep(ROUND_MS);
  }
  return report;
}

/** What a person knows who looks at all accounts, and asks the callers. */
export interface Looked {
  /** The account in use is the orders' own. */
  isRight: boolean;
  /** Only another account has the order. */
  isElsewhere?: (orderId: string) => boolean;
  /** Another caller started another order under the id. */
  isContested?: (orderId: string) => boolean;
}

/** Decides every order that waits for a person; adds to the report. */
export async function decideParked(
  orders: PaymentOrders,
  report: OperatorReport,
  looked: Looked = { isRight: true },
): Promise<void> {
  for await (const one of orders.all({ status: 'parked' })) await decideOne(handleOf(orders, one), report, looked);
}

/** The handle of an order in a list. */
export const handleOf = (orders: PaymentOrders, { orderId, received }: OrderListEntry): OrderHandle =>
  received ? orders.received(orderId) : orders.order(orderId);

/** What is said where nobody knows to which account an order went. */
const WHICH_ACCOUNT = /make sure that this is the account|look for it at every account/;

/** What an order proven absent needs is another send; a hold ends; a sum may be exceeded; everything else stays as it is. */
function choose({ attention }: OrderState): 'release' | 'resend' | 'accept' | 'approve' | undefined {
  // Other approvals say what this operator cannot know.
  if (attention?.code === 'policy') return 'approve';
  return (['release', 'resend', 'accept'] as const).find((action) => attention?.allowed.includes(action));
}

async function decideOne(handle: OrderHandle, report: OperatorReport, looked: Looked): Promise<void> {
  const { orderId } = handle;
  const { isRight, isElsewhere, isContested } = looked;
  try {
    const state = await handle.state();
    if (state.phase !== 'parked' || !state.attention) return;
    // It is decided once the right account is back.
    if (!isRight && WHICH_ACCOUNT.test(state.attention.reason)) return;
    const choice = choose(state);
    // Its page says where to look, or how that one differs. This run ends without it.
    const isOthers = choice === 'resend' ? isElsewhere?.(orderId) : !choice && isContested?.(orderId);
    const action = isOthers ? 'close-absent' : choice;
    // Stays parked, and the oracle says so.
    if (!action) return;
    const said = { by: canary('who decided', orderId), reason: canary('why it was decided', orderId) };
    const { revision, runId } = state;
    await handle.decide({ action, ...said, revision, runId });
    report.choices.push({ event: 'decide', workflowId: handle.workflowId, revision });
    count(report.parks, kindOf(state.attention.reason));
    count(report.decisions, action);
  } catch (error) {
    // It moved on between the two calls, or a worker or Temporal is just starting: the next round sees it again.
    const isPassing = [RefusedError, NoWorkerError, TemporalUnreachableError].some((kind) => error instanceof kind);
    if (!isPassing) throw error;
  }
}

const count = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1);

/** A reason without what differs from order to order: what is left, ids, figures. */
export function kindOf(reason: string): string {
  return reason
    .replace(/;.*/s, '')
    .replace(/\bchaos-\S+/g, '…')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…')
    .replace(/\b\d+(\.\d+)?\b/g, '#');
}
