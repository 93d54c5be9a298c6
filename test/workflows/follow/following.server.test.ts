import { describe, expect, test, vi } from 'vitest';
import { callbackUrl } from '../../../src/contract/callback-url.js';
import { DEFAULT_ACCOUNT } from '../../../src/contract/names.js';
import type { OrderInput } from '../../../src/contract/order/input-and-result.js';
import { ORDER_TYPES } from '../../../src/contract/order/types.js';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, useLab } from '../../support/lab.js';

// The orders wait most of the time, and not for each other.
vi.setConfig({ maxConcurrency: 20 });

const STATUS = '/v2/order/status';
const POLL_MAX_MS = 200;
/** What the sandbox's timers may be late by. */
const TIMER_SLACK_MS = 100;

/** With callbacks, and polls that come too late to play a part, as in production. */
const byCallback = useLab({ pace: { pollInitialMs: 10_000, pollMaxMs: 20_000 } });
/** The service sends no callbacks at all. */
const byPolling = useLab({
  sandbox: { settings: { callbacks: { enabled: false } } },
  pace: { pollInitialMs: 100, pollMaxMs: POLL_MAX_MS },
});

type Options = Omit<Partial<OrderInput<'withdraw'>>, 'order'>;

const start = (lab: Lab, orderId: string, marker?: string, options: Options = {}) =>
  lab.orders.start('withdraw', orderInput('withdraw', orderId, { ...(marker && { marker }), ...options }));

const lookUps = (lab: Lab, orderId: string): number => lab.requestsOf(orderId).filter((path) => path === STATUS).length;

/** Posts a callback as the service would. Returns the receiver's HTTP status. */
async function postCallback(orderId: string, body: object, { key }: { key?: string } = {}): Promise<number> {
  const { callback } = byCallback.config;
  const [genuine = ''] = callback?.tokenKeys ?? [];
  const target = { kind: 'order', account: DEFAULT_ACCOUNT, orderId } as const;
  const url = callbackUrl(callback?.baseUrl ?? '', key ?? genuine, target);
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  return response.status;
}

test('a callback that comes while the create is under way is looked into as soon as the create is answered', async () => {
  const orderId = newOrderId('early');
  const marker = 'create=slow slow_ms=2000 callback=drop pay_ms=20 after_ms=20';
  const handle = await start(byCallback, orderId, marker);
  await vi.waitUntil(() => byCallback.sandbox.stats().executedByOrderId[orderId] === 1, 30_000);
  const sentAtMs = Date.now();
  expect(await postCallback(orderId, {})).toBe(200);
  expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  // Well before the first poll.
  expect(Date.now() - sentAtMs).toBeLessThan(8_000);
});

describe.concurrent('an order that is learned by one callback', () => {
  test.for(ORDER_TYPES)('%s: takes at most 28 events when the caller waits for the created order', async (type) => {
    const orderId = newOrderId('created');
    const input = orderInput(type, orderId, { marker: 'after_ms=1000' });
    const { handle, order } = await byCallback.orders.create(type, input);
    expect(order).toMatchObject({ user_order_id: orderId, order_type: type });
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    expect(byCallback.requestsOf(orderId)).toHaveLength(3);
    expect(await byCallback.events(orderId)).toBeLessThanOrEqual(28);
  });
});

describe.concurrent('callbacks only wake the order up', () => {
  test('a lost one is made up for by polling', async () => {
    const orderId = newOrderId('lost');
    const handle = await start(byCallback, orderId, 'callback=drop');
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  });

  test('one with a forged body is looked up and not believed', async () => {
    const orderId = newOrderId('forged');
    const handle = await start(byCallback, orderId, 'after_ms=5000');
    const { order_uuid } = await handle.created();
    expect(await postCallback(orderId, { order_uuid, user_order_id: orderId, status: 'error' })).toBe(200);
    await vi.waitFor(() => expect(lookUps(byCallback, orderId)).toBeGreaterThanOrEqual(1), 60_000);
    const result = await handle.result({ timeoutMs: 60_000 });
    expect(result).toMatchObject({ outcome: 'completed', order: { status: 'completed' } });
  });

  test('one with a forged token gets 404 and no look-up', async () => {
    const orderId = newOrderId('token');
    const handle = await start(byCallback, orderId, 'after_ms=1500');
    const { order_uuid } = await handle.created();
    const body = { order_uuid, user_order_id: orderId, status: 'completed' };
    expect(await postCallback(orderId, body, { key: 'guessed' })).toBe(404);
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    expect(lookUps(byCallback, orderId)).toBe(1);
  });

  test('older ones after newer ones change nothing, before the end and after it', async () => {
    const orderId = newOrderId('reordered');
    const handle = await start(byCallback, orderId, 'after_ms=1500');
    const { order_uuid } = await handle.created();
    const callback = (status: string) => postCallback(orderId, { order_uuid, user_order_id: orderId, status });
    expect(await callback('completed')).toBe(200);
    expect(await callback('new')).toBe(200);
    expect(await handle.result()).toMatchObject({ outcome: 'completed', order: { status: 'completed' } });
    const events = await byCallback.events(orderId);
    expect(await callback('processing')).toBe(200);
    expect(await byCallback.events(orderId)).toBe(events);
  });

  test('a flood of forged ones costs no more look-ups than polling does', async () => {
    const orderId = newOrderId('flood');
    const handle = await start(byCallback, orderId, 'after_ms=2500');
    const { order_uuid } = await handle.created();
    const forged = Array.from({ length: 30 }, (_, n) => ({ order_uuid, user_order_id: orderId, status: `s${n}` }));
    await Promise.all(forged.map((body) => postCallback(orderId, body)));
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    expect(lookUps(byCallback, orderId)).toBeLessThanOrEqual(3);
  });
});

describe.concurrent('with callbacks switched off altogether', () => {
  test.for(ORDER_TYPES)('%s ends at the first poll after its end at the service', async (type) => {
    const orderId = newOrderId('polled');
    const marker = 'pay_ms=700 after_ms=700';
    const handle = await byPolling.orders.start(type, orderInput(type, orderId, { marker }));
    expect(await handle.result()).toMatchObject({ outcome: 'completed', order: { order_type: type } });
    const mine = byPolling.sandbox.requests().filter((request) => request.orderId === orderId);
    const createdAtMs = mine.find(({ path }) => path.endsWith(type))?.atMs ?? 0;
    const finalAtMs = createdAtMs + (type.startsWith('deposit') ? 1_400 : 700);
    // The first poll that can see the end is the last one; how far apart polls are is the activity's own test.
    const polls = mine.filter(({ path, atMs }) => path === STATUS && atMs > finalAtMs + TIMER_SLACK_MS);
    expect(polls.length).toBeLessThanOrEqual(1);
    expect(byPolling.sandbox.stats().callbacksSent).toBe(0);
  });

  test('the history does not grow with the number of polls', async () => {
    const [few, many] = [newOrderId('few-polls'), newOrderId('many-polls')];
    const handles = [
      await start(byPolling, few, 'status=unseen status_times=1'),
      await start(byPolling, many, 'status=unseen status_times=11'),
    ];
    await Promise.all(handles.map((handle) => handle.result()));
    expect([lookUps(byPolling, few), lookUps(byPolling, many)]).toEqual([2, 12]);
    expect(await byPolling.events(many)).toBe(await byPolling.events(few));
  });
});

describe.concurrent('strange answers to polls', () => {
  test.for([
    { answer: '503 for a while', marker: 'status=503 status_times=4', polls: 5 },
    { answer: '401 for a while', marker: 'status=401 status_times=4', polls: 5 },
    { answer: 'a web page', marker: 'status=html status_times=3', polls: 4 },
    { answer: 'another order', marker: 'status=crossed status_times=4', polls: 5 },
    { answer: 'not found for a while', marker: 'status=unseen status_times=4', polls: 5 },
    { answer: 'found and not found by turns', marker: 'status=alternating after_ms=3000', polls: 1 },
  ])('$answer: the order is followed to its own end', async ({ marker, polls }) => {
    const orderId = newOrderId('strange');
    const handle = await start(byPolling, orderId, marker);
    const result = await handle.result();
    const [mine] = byPolling.sandbox.orders().filter(({ order }) => order.user_order_id === orderId);
    expect(result).toMatchObject({
      outcome: 'completed',
      order: { order_uuid: mine?.order.order_uuid, user_order_id: orderId },
    });
    expect(lookUps(byPolling, orderId)).toBeGreaterThanOrEqual(polls);
  });

  test('a status that is not documented is not final and raises attention', async () => {
    const orderId = newOrderId('on-hold');
    const handle = await start(byPolling, orderId, 'status=unknown-status status_times=15');
    const attention = { allowed: [], reason: expect.stringContaining('on_hold') };
    await vi.waitFor(async () => expect(await handle.state()).toMatchObject({ status: 'on_hold', attention }), 60_000);
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    // Its reason is gone with the final status.
    expect(await handle.state()).not.toHaveProperty('attention');
  });
});
