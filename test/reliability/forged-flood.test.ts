import { Agent } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OrderHandle } from '../../src/client/order-handle.js';
import { callbackUrl } from '../../src/contract/callback-url.js';
import { DEFAULT_ACCOUNT, ORDER_CALLBACK_SIGNAL } from '../../src/contract/names.js';
import { SIGNAL_BURST } from '../../src/receiver/spare-temporal.js';
import { countOf, postOver, sendAll } from '../receiver/flood.fixture.js';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';
import { serviceView } from '../workflows/create/service-view.fixture.js';

const CALLBACKS = 10_000;
const WRONG_TOKENS = 1_000;
const SIGNALS = 2_000;

const POLL_INITIAL_MS = 500;
const POLL_MAX_MS = 4_000;
/** How long the service takes to finish the order: longer than the flood takes on a busy machine. */
const FINAL_AFTER_MS = 90_000;
const TEST_LIMIT_MS = 240_000;

/** The order is looked at after this part of a flood, when it is certainly not final yet. */
const FIRST_PART = 0.1;

/** Callbacks under way at once. */
const IN_FLIGHT = 50;

/**
 * Signals under way at once. The SDK spends about 3 ms on each signal of a workflow task, and a task that takes longer
 * than 5 s ends its process: what passes the receiver by has to come in bearable portions.
 */
const SIGNALS_IN_FLIGHT = 4;

/** A run ends at 51,200 events; a flood must leave it far below. */
const MAX_EVENTS = 5_000;

const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ pace: { pollInitialMs: POLL_INITIAL_MS, pollMaxMs: POLL_MAX_MS } });
});
afterAll(() => {
  agent.destroy();
  return lab?.close();
});

/**
 * Most look-ups of an order that was open that long: callbacks and polls each ask at once, then with pauses that double
 * from the initial to the longest one (a tenth shorter at most). However many callbacks came, the number does not grow.
 */
const lookUpBound = (openMs: number): number => {
  const doublings = Math.log2(POLL_MAX_MS / POLL_INITIAL_MS);
  return Math.ceil(2 * (2 + doublings + openMs / (POLL_MAX_MS * 0.9)));
};

/** Floods an open order and sees in between that nothing moved it. */
async function flood<T>(handle: OrderHandle, count: number, lanes: number, send: (n: number) => Promise<T>) {
  const all = Array.from({ length: count }, (_, n) => n);
  const first = await sendAll(all.slice(0, count * FIRST_PART), lanes, send);
  expect(await handle.state()).toMatchObject({ phase: 'following', status: 'processing' });
  return [...first, ...(await sendAll(all.slice(count * FIRST_PART), lanes, send))];
}

/** Every field of the body is a lie, and no two bodies are alike. */
const forgedBody = (orderId: string, uuid: string, n: number): object => ({
  order_uuid: n % 3 === 0 ? uuid : `forged-${n}`,
  user_order_id: n % 5 === 0 ? `other-${n}` : orderId,
  status: ['error', 'canceled', 'completed', 'completed_partially', `invented-${n}`][n % 5],
  amount_to: `${n}`,
});

/** Posts with a genuine token, or with one that another key made. Returns the HTTP status. */
function post(orderId: string, body: object, key = lab.config.callback?.tokenKeys[0] ?? ''): Promise<number> {
  const url = callbackUrl(lab.config.callback?.baseUrl ?? '', key, {
    kind: 'order',
    account: DEFAULT_ACCOUNT,
    orderId,
  });
  return postOver(agent, url, body);
}

/** Starts an order that stays open throughout the flood. */
async function startOpenOrder(label: string) {
  const orderId = newOrderId(label);
  const startedAtMs = Date.now();
  const marker = `after_ms=${FINAL_AFTER_MS} callback=drop duplicate=c`;
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker }));
  const created = await handle.created();
  return { handle, orderId, created, startedAtMs };
}

/** The order ends as the service ends it, and the flood cost little. */
async function expectUnmoved(handle: OrderHandle, startedAtMs: number): Promise<void> {
  expect(await handle.result()).toMatchObject({ outcome: 'completed', order: { status: 'completed' } });
  const lookUps = lab.requestsOf(handle.orderId).filter((path) => path === '/v2/order/status').length;
  expect(lookUps).toBeLessThanOrEqual(lookUpBound(Date.now() - startedAtMs));
  expect(serviceView(lab, handle.orderId)).toEqual({ creates: 1, executed: 1, blindCreates: 0 });
  expect(await lab.events(handle.orderId)).toBeLessThan(MAX_EVENTS);
}

async function signalsOf({ workflowId }: OrderHandle): Promise<number> {
  const { events } = await lab.temporal.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).filter((event) => event.workflowExecutionSignaledEventAttributes).length;
}

describe.concurrent('an order in flight ends as the service ends it', { timeout: TEST_LIMIT_MS }, () => {
  test(`through ${CALLBACKS} forged callbacks with its own token`, async () => {
    const { handle, orderId, created, startedAtMs } = await startOpenOrder('forged');
    const forge = (n: number) => post(orderId, forgedBody(orderId, created.order_uuid, n));
    const statuses = await flood(handle, CALLBACKS, IN_FLIGHT, forge);
    // 503: a Temporal that is too busy to take a signal in time; the service would repeat such a callback.
    expect(countOf(statuses, 200, 429, 503)).toBe(CALLBACKS);
    expect(countOf(statuses, 503)).toBeLessThan(CALLBACKS / 100);
    // What goes beyond the burst is refused before it reaches Temporal; one more may pass every ten minutes.
    expect(await signalsOf(handle)).toBeLessThanOrEqual(SIGNAL_BURST + 1);
    await expectUnmoved(handle, startedAtMs);
  });

  test(`through ${WRONG_TOKENS} callbacks with tokens of another key: not one wakes it up`, async () => {
    const { handle, orderId, created, startedAtMs } = await startOpenOrder('guessed');
    const body = { order_uuid: created.order_uuid, user_order_id: orderId, status: 'completed' };
    const guess = (n: number) => post(orderId, body, `guessed-key-${n}`);
    const statuses = await flood(handle, WRONG_TOKENS, IN_FLIGHT, guess);
    expect(countOf(statuses, 404)).toBe(WRONG_TOKENS);
    expect(await signalsOf(handle)).toBe(0);
    await expectUnmoved(handle, startedAtMs);
  });

  test(`through ${SIGNALS} signals that pass the receiver by`, async () => {
    const { handle, orderId, startedAtMs } = await startOpenOrder('signalled');
    const workflow = lab.temporal.client.workflow.getHandle(handle.workflowId);
    const signal = (n: number) => workflow.signal(ORDER_CALLBACK_SIGNAL, forgedBody(orderId, 'forged', n));
    await flood(handle, SIGNALS, SIGNALS_IN_FLIGHT, signal);
    await expectUnmoved(handle, startedAtMs);
  });
});
