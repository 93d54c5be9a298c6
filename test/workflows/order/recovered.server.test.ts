import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readFirstInput } from '../../../src/client/history.js';
import { startOrder } from '../../../src/client/start-order.js';
import { ORDERS_TASK_QUEUE } from '../../../src/contract/names.js';
import { recoveredStart } from '../../../src/contract/order/followers.js';
import type { OrderInput } from '../../../src/contract/order/input-and-result.js';
import { ORDER_TYPES, type OrderType } from '../../../src/contract/order/types.js';
import { isMalformed } from '../../../src/contract/service-objects.js';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../../support/lab.js';
import { atService, decideNow, parkedFor, trueRemainder } from '../compensation/parked-orders.fixture.js';
import { serviceView } from '../create/service-view.fixture.js';

// The orders wait most of the time, and not for each other.
vi.setConfig({ maxConcurrency: 10 });

const PARTIAL = 'outcome=completed_partially fraction=0.4';

/** Where the orders were started: its Temporal is lost. */
let lost: Lab;
/** A new Temporal in front of the same service. */
let lab: Lab;
beforeAll(async () => {
  lost = await openLab({ callbacks: false });
  lab = await openLab({ serviceUrl: async () => lost.sandbox.url });
});
afterAll(async () => {
  await lab?.close();
  await lost?.close();
});

/** Starts an order whose Temporal is then lost, and reads it from the order list. */
async function lostOrder(type: OrderType, marker: string, orderId = newOrderId(type.replaceAll('_', '-'))) {
  const input = orderInput(type, orderId, { marker: `${marker} duplicate=c` });
  await lost.orders.create(type, input);
  const [item] = await lab.orders.orderList({ order_ids: [orderId] });
  if (!item || isMalformed(item)) throw new Error('the order is not listed');
  const start = recoveredStart('default', item);
  if (!start) throw new Error('the order is not listed');
  return { orderId, input, item, start };
}

const recover = ({ type, input }: { type: OrderType; input: OrderInput }) =>
  startOrder(lab.temporal.client, type, input);

/** What the service saw of an order; `creates` counts both Temporals. */
const seen = (orderId: string) => serviceView(lost, orderId);

describe.concurrent('an order whose run is lost', () => {
  test.for(ORDER_TYPES)('%s: is followed to its end from what the list tells, and never sent again', async (type) => {
    const { orderId, start, item } = await lostOrder(type, 'pay_ms=500 after_ms=2500');
    expect(start.input.order).not.toHaveProperty('wallet');
    const result = await (await recover(start)).result();
    expect(result).toMatchObject({
      outcome: 'completed',
      adopted: true,
      order: { order_uuid: item.order_uuid, status: 'completed' },
      compensation: { policy: 'report', status: 'none' },
    });
    expect(seen(orderId)).toMatchObject({ creates: 1, executed: 1 });
  });

  test.for(['exchange', 'withdraw', 'exchange_withdraw'] as const)(
    '%s: one that ended partially is reported and moves nothing',
    async (type) => {
      const { orderId, start } = await lostOrder(type, `${PARTIAL} after_ms=20`);
      const result = await (await recover(start)).result();
      expect(result).toMatchObject({
        outcome: 'completed_partially',
        compensation: { policy: 'report', status: 'none' },
      });
      const { order } = atService(lost, orderId);
      const guessed = type === 'withdraw' && order.expected_amount_from !== order.expected_amount_to;
      if (guessed) expect(result.remainderUnknown).toContain('the amount asked for is not known');
      else expect(result.remainder).toEqual(trueRemainder(lost, orderId));
      expect(lost.sandbox.orders().filter((each) => each.order.user_order_id.startsWith(`${orderId}.r`))).toEqual([]);
    },
  );

  test('a follow-up, too, although its parent is lost', async () => {
    const parentId = newOrderId('parent');
    const input = orderInput('withdraw', parentId, { marker: PARTIAL, compensation: 'finish' });
    await (await lost.orders.start('withdraw', input)).result();
    const [item] = await lab.orders.orderList({ order_ids: [`${parentId}.r1`] });
    const start = item && !isMalformed(item) && recoveredStart('default', item);
    if (!start) throw new Error('the follow-up is not listed');
    expect(await (await recover(start)).result()).toMatchObject({ outcome: 'completed', adopted: true });
    expect(seen(`${parentId}.r1`)).toMatchObject({ creates: 1, executed: 1 });
  });

  test('is found where a first look-up misses it', async () => {
    const { start } = await lostOrder('withdraw', 'after_ms=200 status=unseen status_times=1');
    expect(await (await recover(start)).result()).toMatchObject({ outcome: 'completed' });
  });
});

describe.concurrent('a start of the old id', () => {
  test.for(['deposit', 'exchange', 'withdraw'] as const)(
    '%s: attaches to the follower and sends nothing',
    async (type) => {
      const { orderId, start, input } = await lostOrder(type, 'pay_ms=100 after_ms=1500');
      expect((await recover(start)).attached).toBe(false);
      expect((await recover(start)).attached).toBe(true);
      const handle = await lab.orders.start(type, input);
      expect(handle).toMatchObject({ attached: true, recovered: true });
      const { order } = await lab.orders.create(type, input);
      expect(order).toMatchObject({ user_order_id: orderId });
      expect(await handle.result()).toMatchObject({ outcome: 'completed' });
      expect((await lab.orders.start(type, input)).attached).toBe(true);
      expect(seen(orderId)).toMatchObject({ creates: 1, executed: 1 });
    },
  );

  test('for another payment is a conflict that names what differs, before and after the end', async () => {
    const { orderId, start, input } = await lostOrder('withdraw', 'after_ms=1500');
    const handle = await recover(start);
    const other = {
      ...input,
      order: { ...input.order, amount: '13', wallet: '5555555555554444' },
    } as OrderInput<'withdraw'>;
    const conflict = { name: 'ConflictError', subject: 'order', fields: ['order.wallet', 'order.amount'] };
    await expect(lab.orders.start('withdraw', other)).rejects.toMatchObject(conflict);
    await expect(lab.orders.start('exchange', orderInput('exchange', orderId))).rejects.toMatchObject({
      name: 'ConflictError',
      subject: 'order',
    });
    await handle.result();
    await expect(lab.orders.start('withdraw', other)).rejects.toMatchObject(conflict);
    expect(seen(orderId)).toMatchObject({ creates: 1, executed: 1 });
  });

  test('before its follower is recovered adopts the order by the probe', async () => {
    const { orderId, input } = await lostOrder('withdraw', 'after_ms=500');
    const handle = await lab.orders.start('withdraw', input);
    expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
    expect(seen(orderId)).toMatchObject({ creates: 1, executed: 1 });
  });
});

describe.concurrent('an order that the list showed and that is gone', () => {
  /** A follower parked because the service shows its order no more. */
  async function parkedFollower() {
    const found = await lostOrder('deposit', 'pay_ms=1000000');
    lost.sandbox.removeOrder(found.item.order_uuid);
    const handle = await recover(found.start);
    const state = await parkedFor(handle, 'the order list showed');
    return { ...found, handle, state };
  }

  test('is parked, with the decisions that there are', async () => {
    const { state, item, handle } = await parkedFollower();
    expect(state.attention).toMatchObject({
      allowed: ['adopt', 'close-absent'],
      reason: expect.stringContaining(item.order_uuid),
    });
    await decideNow(handle, 'close-absent');
    await expect(handle.result()).rejects.toMatchObject({ name: 'UnresolvedError' });
  });

  test('takes no other payment that a person names', async () => {
    const { handle } = await parkedFollower();
    const other = await lostOrder('deposit', 'pay_ms=1000000');
    const { revision } = await handle.state();
    await handle.decide({ action: 'adopt', by: 'ann', reason: 'a try', revision, order_uuid: other.item.order_uuid });
    await parkedFor(handle, 'is another payment');
  });

  test('is not sent by a start meanwhile, which attaches', async () => {
    const { orderId, input } = await parkedFollower();
    expect(await lab.orders.start('deposit', input as OrderInput<'deposit'>)).toMatchObject({ attached: true });
    expect(seen(orderId)).toMatchObject({ creates: 1, executed: 1 });
  });
});

describe.concurrent('bad input with recovered', () => {
  test.for([
    { recovered: { order_uuid: 'u-1' } },
    { followUpOf: [] },
    { sentTo: { account: 'https://pay.example#a' } },
    { accountUnknown: true },
    { held: 'by Ann' },
  ])('%j is refused from outside, and the error names it', async (internal) => {
    const [field = ''] = Object.keys(internal);
    const input = { ...orderInput('withdraw', newOrderId('outside')), ...internal };
    await expect(lab.orders.start('withdraw', input as never)).rejects.toMatchObject({
      kind: 'invalidInput',
      fields: [{ field, reason: 'is set by the product itself: leave it out' }],
    });
  });

  const { order } = orderInput('withdraw', 'x');
  const recovered = { order_uuid: 'u-1' };
  test.for([
    ['another policy', { compensation: 'finish', recovered }, 'compensation'],
    ['no policy', { recovered }, 'compensation'],
    ['a re-send', { compensation: 'report', resend: 'once', recovered }, 'resend'],
    ['no order_uuid', { compensation: 'report', recovered: {} }, 'recovered.order_uuid'],
    ['no object', { compensation: 'report', recovered: true }, 'recovered'],
    ['null', { compensation: 'report', recovered: null }, 'recovered'],
  ] as const)('%s fails as InvalidOrder and sends nothing', async ([, options, field]) => {
    const orderId = newOrderId('bad');
    const run = await lab.temporal.client.workflow.start('withdraw', {
      workflowId: `order:default:${orderId}`,
      taskQueue: ORDERS_TASK_QUEUE,
      args: [{ order: { ...order, order_id: orderId }, ...options }],
    });
    const failure = await run.result().catch((error: { cause?: unknown }) => error.cause);
    expect(failure).toMatchObject({ type: 'InvalidOrder', message: expect.stringContaining(field) });
    expect(seen(orderId)).toMatchObject({ creates: 0, executed: 0 });
  });

  test('a run that refuses what it was to follow hands on that it was sent, to one that is started again', async () => {
    const { orderId, input, start } = await lostOrder('withdraw', 'after_ms=20');
    const workflowId = `order:default:${orderId}`;
    const strict = { ...start.input, order: { ...start.input.order, later: 'refused' } };
    const { client } = lab.temporal;
    const run = await client.workflow.start('withdraw', { workflowId, taskQueue: ORDERS_TASK_QUEUE, args: [strict] });
    await expect(run.result()).rejects.toMatchObject({ cause: { type: 'InvalidOrder' } });
    const again = await lab.orders.start('withdraw', input as OrderInput<'withdraw'>, { again: true });
    const told = (await readFirstInput(client, workflowId)).input;
    expect(told).toMatchObject({ sentUntil: expect.any(String), accountUnknown: true });
    expect(await again.result()).toMatchObject({ outcome: 'completed', adopted: true });
    expect(seen(orderId)).toMatchObject({ creates: 1, executed: 1 });
  });
});
