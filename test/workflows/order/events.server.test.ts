import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  DELIVER_EVENTS_WORKFLOW,
  deliveryWorkflowId,
  EVENTS_SIGNAL,
  ORDERS_TASK_QUEUE,
  orderWorkflowId,
} from '../../../src/contract/names.js';
import type { EventKind } from '../../../src/index.js';
import { type Answer, startEventReceiver, status } from '../../support/event-receiver.js';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../../support/lab.js';

type Receiver = Awaited<ReturnType<typeof startEventReceiver>>;

let shop: Receiver;
let audit: Receiver;
let dead: Receiver;
let lab: Lab;

/** Answers of the first posts; all later ones are 204. */
const inTurn =
  (...answers: Answer[]): Answer =>
  (n, response, request) =>
    (answers[n - 1] ?? status(204))(n, response, request);

const hangs: Answer = () => undefined;

beforeAll(async () => {
  shop = await startEventReceiver('shop');
  audit = await startEventReceiver('audit');
  dead = await startEventReceiver('dead', hangs);
  lab = await openLab({ receivers: [shop.config, dead.config, { ...audit.config, kinds: ['order.ended'] }] });
});
afterAll(async () => {
  await lab.close();
  await Promise.all([shop, audit, dead].map((receiver) => receiver.close()));
});

const of = ({ received }: Receiver, orderId: string) =>
  received.filter(({ event }) => event.data.order_id === orderId).map(({ event }) => event);

const kindsOf = (receiver: Receiver, orderId: string): EventKind[] => of(receiver, orderId).map(({ type }) => type);

const LIFE: EventKind[] = ['order.created', 'order.final', 'order.ended'];

// First: later on, the service would hide orders that it has shown.
test('an order that changes after its end says so, behind its own events', async () => {
  lab.sandbox.set({ visibilityLagMs: 600_000 });
  const orderId = newOrderId('changed');
  const marker = 'create=400-after callback=drop';
  const marks = { reference: 'late/1', metadata: { team: 'a' } };
  const handle = await lab.orders.start('deposit', orderInput('deposit', orderId, { marker, ...marks }));
  await expect(handle.result()).rejects.toMatchObject({ type: 'OrderRejected' });
  lab.sandbox.set({ visibilityLagMs: 0 });
  const [mine] = lab.sandbox.orders().filter(({ order }) => order.user_order_id === orderId);
  expect(await lab.sandbox.sendCallback(mine?.order.order_uuid ?? '')).toBe(200);
  const kinds: EventKind[] = ['order.ended', 'order.changed_after_end'];
  await vi.waitFor(() => expect(kindsOf(shop, orderId)).toEqual(kinds), 60_000);
  const { reference } = marks;
  expect(of(shop, orderId)[0]?.data).toMatchObject({ failure: 'OrderRejected', ...marks });
  expect(of(shop, orderId)[1]?.data).toMatchObject({
    ...{ order_type: 'deposit', order_uuid: mine?.order.order_uuid, reference },
  });
  const afterEnd = lab.orders.order(orderId, { afterEnd: true });
  await vi.waitFor(async () => expect(await afterEnd.state()).toMatchObject({ phase: 'parked' }), 60_000);
  const { revision } = await afterEnd.state();
  await afterEnd.decide({ action: 'accept', by: 'Ann Smith', reason: 'booked by hand', revision });
  await vi.waitFor(() => expect(kindsOf(shop, orderId)).toEqual([...kinds, 'order.attention_over']), 60_000);
});

test('events that came by a signal before the first task follow those of the start', async () => {
  const orderId = newOrderId('early');
  const events = [1, 2, 3].map((sequence) => ({
    ...{ id: `early.${sequence}`, type: sequence === 3 ? 'order.ended' : 'order.created' },
    ...{ timestamp: new Date().toISOString(), data: { account: 'default', sequence, order_id: orderId } },
  }));
  const [first, ...later] = events.map((event) => ({ receivers: [{ name: 'shop' }], events: [event] }));
  const delivery = await lab.temporal.client.workflow.signalWithStart(DELIVER_EVENTS_WORKFLOW, {
    workflowId: deliveryWorkflowId(`order:default:${orderId}`),
    taskQueue: ORDERS_TASK_QUEUE,
    args: [first],
    signal: EVENTS_SIGNAL,
    signalArgs: [{ receivers: [{ name: 'shop' }], events: later.flatMap((one) => one.events) }],
  });
  await delivery.result();
  expect(of(shop, orderId).map(({ data }) => data.sequence)).toEqual([1, 2, 3]);
});

describe('a payout', () => {
  test('reports that it was created, final and ended, in order, and nothing private', async () => {
    const orderId = newOrderId('told');
    const input = orderInput('withdraw', orderId);
    const handle = await lab.orders.start('withdraw', input);
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    await vi.waitFor(() => expect(kindsOf(shop, orderId)).toEqual(LIFE), 30_000);
    const events = of(shop, orderId);
    const { runId } = await lab.temporal.client.workflow.getHandle(handle.workflowId).describe();
    expect(events.map(({ id }) => id)).toEqual([1, 2, 3].map((n) => `${runId}.${n}`));
    expect(events[2]).toMatchObject({
      data: { account: 'default', sequence: 3, order_type: 'withdraw', status: 'completed', outcome: 'completed' },
    });
    const bodies = shop.received.map(({ body }) => body).join();
    const { wallet, description } = input.order;
    for (const secret of [wallet, description]) if (secret) expect(bodies).not.toContain(String(secret));
    expect(bodies).not.toMatch(/wallet|client_info|description|@/);
  });

  test('reaches a receiver of one kind, and is held up by none that hangs', async () => {
    const orderId = newOrderId('few');
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId));
    await handle.result();
    await vi.waitFor(() => expect(kindsOf(audit, orderId)).toEqual(['order.ended']), 30_000);
    await vi.waitFor(() => expect(kindsOf(shop, orderId)).toEqual(LIFE), 30_000);
    await vi.waitFor(() => expect(new Set(kindsOf(dead, orderId))).toEqual(new Set(['order.created'])), 30_000);
  });

  test('that the service refuses ends with the failure type', async () => {
    const orderId = newOrderId('rejected');
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker: 'create=400' }));
    await expect(handle.result()).rejects.toMatchObject({ type: 'OrderRejected' });
    await vi.waitFor(() => expect(kindsOf(shop, orderId)).toEqual(['order.ended']), 30_000);
    expect(of(shop, orderId)[0]?.data).toMatchObject({ failure: 'OrderRejected', currency_to: 'usd' });
  });

  test('whose input a worker refuses ends with the failure type, and its caller sees the fields alone', async () => {
    const orderId = newOrderId('invalid');
    const input = orderInput('withdraw', orderId);
    const args = ['withdraw', { ...input, order: { ...input.order, amount: '0.50' } }] as const;
    const { client } = lab.temporal;
    const options = { workflowId: orderWorkflowId('default', orderId), taskQueue: ORDERS_TASK_QUEUE };
    const handle = await client.workflow.start(args[0], { ...options, args: [args[1]] });
    const failure = await handle.result().catch(({ cause }) => cause);
    expect(failure).toMatchObject({ type: 'InvalidOrder', details: [[{ field: 'order.amount' }]] });
    await vi.waitFor(() => expect(kindsOf(shop, orderId)).toEqual(['order.ended']), 30_000);
    expect(of(shop, orderId)[0]?.data).toMatchObject({ failure: 'InvalidOrder' });
    // An id that is refused is not repeated.
    const secret = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
    const leaking = `paid-${secret}`;
    const order = { order_id: leaking, currency: 'usdt', network: 'tron', amount: '20', wallet: secret };
    const leak = { workflowId: orderWorkflowId('default', leaking), taskQueue: ORDERS_TASK_QUEUE };
    const other = await client.workflow.start('withdraw', { ...leak, args: [{ order }] });
    await expect(other.result()).rejects.toMatchObject({ cause: { type: 'InvalidOrder' } });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(shop.received.map(({ body }) => body).join()).not.toContain(secret);
  });

  test('asks for a person by its code alone, and says when that is over', async () => {
    const orderId = newOrderId('on-hold');
    const marker = 'status=unknown-status status_times=3';
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker }));
    await handle.result();
    const kinds: EventKind[] = ['order.created', 'order.needs_attention', 'order.final', 'order.attention_over'];
    await vi.waitFor(
      () => expect(kindsOf(shop, orderId).toSorted()).toEqual([...kinds, 'order.ended'].toSorted()),
      30_000,
    );
    const [, asked] = of(shop, orderId);
    expect(asked).toMatchObject({ type: 'order.needs_attention', data: { code: 'unknown-status' } });
    expect(of(shop, orderId).map(({ data }) => data.sequence)).toEqual([1, 2, 3, 4, 5]);
  });
});

test('through 500, 302, a hanging receiver and a restart of the workers, each event arrives, in order', async () => {
  const flaky = await startEventReceiver('flaky', inTurn(status(500), status(302, { location: '/' }), hangs));
  await lab.replaceWorkers({ receivers: new Map([['flaky', flaky.config]]) });
  try {
    const orderId = newOrderId('flaky');
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId));
    await handle.result();
    await vi.waitFor(() => expect(flaky.received.length).toBeGreaterThanOrEqual(2), 60_000);
    await lab.replaceWorkers({ receivers: new Map([['flaky', flaky.config]]) });
    await vi.waitFor(() => expect([...new Set(kindsOf(flaky, orderId))]).toEqual(LIFE), 120_000);
    // The first event was sent until its answer was 204, always under the same id.
    const first = of(flaky, orderId).slice(0, -2);
    expect(new Set(first.map(({ id }) => id)).size).toBe(1);
    expect(first.length).toBeGreaterThanOrEqual(4);
  } finally {
    await flaky.close();
  }
});

test('a receiver that wants none of the first events gets the last one', async () => {
  await lab.replaceWorkers({ receivers: new Map([['audit', { ...audit.config, kinds: ['order.ended'] }]]) });
  const orderId = newOrderId('last');
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId));
  await handle.result();
  await vi.waitFor(() => expect(kindsOf(audit, orderId)).toEqual(['order.ended']), 30_000);
});
