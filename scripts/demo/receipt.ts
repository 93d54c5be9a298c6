import { setTimeout as sleep } from 'node:timers/promises';
import { UnknownIdError } from '../../src/client/errors.js';
import type { PaymentOrders } from '../../src/client.js';
import type { OrderResult } from '../../src/contract/order/input-and-result.js';
import { type Outcome, readHistory } from './run-scenarios.js';

const NAME = 'received on a permanent address';
const AMOUNT = '250';
const CALLBACK_WITHIN_MS = 60_000;

/** Makes a permanent address, lets money arrive on it, and follows the order that nobody started to its end. */
export async function runReceipt(orders: PaymentOrders, sandboxAdminUrl: string, runId: string): Promise<Outcome> {
  const ref = `demo-${runId}`;
  const { address } = await orders.createAddress({ ref, address: { currency: 'usdt', network: 'tron' } });
  const orderUuid = await receive(sandboxAdminUrl, address.uuid);
  const { workflowId } = orders.received(orderUuid);
  const result = await resultOnceStarted(orders, orderUuid);
  const history = await readHistory(orders.client, workflowId);
  // Nothing but the receiver starts such a run, so that one which never polled learned its end by the callback.
  const learned = history.learned === 'poll' ? 'poll' : 'callback';
  return {
    type: 'deposit',
    name: NAME,
    orderId: ref,
    created: 'by the receipt',
    learned,
    outcome: result.outcome,
    compensation: result.compensation?.status ?? '–',
    events: history.events,
    workflowId,
    runId: history.runId,
    wrong: differences(result, orderUuid, learned),
  };
}

/** The order_uuid of the order that the deposit made. */
async function receive(sandboxAdminUrl: string, addressUuid: string): Promise<string> {
  const response = await fetch(`${sandboxAdminUrl}/receipts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ addressUuid, amount: AMOUNT }),
  });
  if (!response.ok) throw new Error(`the sandbox took no receipt: ${response.status}`);
  const { order } = (await response.json()) as { order: { order_uuid: string } };
  return order.order_uuid;
}

/** There is no run until the callback has come. */
async function resultOnceStarted(orders: PaymentOrders, orderUuid: string): Promise<OrderResult> {
  const deadlineMs = Date.now() + CALLBACK_WITHIN_MS;
  for (;;) {
    try {
      return await orders.received(orderUuid).result();
    } catch (error) {
      if (!(error instanceof UnknownIdError) || Date.now() > deadlineMs) throw error;
    }
    await sleep(500);
  }
}

function differences({ outcome, order }: OrderResult, orderUuid: string, learned: string): string[] {
  const seen = { outcome, learned, order_type: order.order_type, order_uuid: order.order_uuid };
  const expected = { outcome: 'completed', learned: 'callback', order_type: 'deposit', order_uuid: orderUuid };
  return Object.entries(expected).flatMap(([name, value]) => {
    const actual = seen[name as keyof typeof seen];
    return actual === value ? [] : [`${name} is ${actual}, expected ${value}`];
  });
}
