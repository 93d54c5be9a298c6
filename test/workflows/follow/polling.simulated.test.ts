import { beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, useGatedLab } from '../../support/gated-lab.js';
import { orderInput } from '../../support/inputs.js';

const lab = useGatedLab();

/** Time between each poll and the one before it. */
const gapsOf = (timesMs: number[]): number[] => timesMs.slice(1).map((timeMs, i) => timeMs - (timesMs[i] ?? 0));

describe('an order followed by polling alone', () => {
  const ORDER_ID = 'long-poll';
  let polls: number[];
  let endedAfterMs: number;

  beforeAll(async () => {
    const startedAtMs = Date.now();
    lab.gate.showAsCreated(ORDER_ID, startedAtMs + DAY_MS);
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', ORDER_ID));
    expect(await lab.result(handle, 2 * DAY_MS)).toMatchObject({ outcome: 'completed', adopted: false });
    polls = lab.gate.about(ORDER_ID, 'status').map(({ atMs }) => atMs);
    endedAfterMs = (polls.at(-1) ?? 0) - startedAtMs;
  });

  test('is polled faster at first, and every 5 minutes in the long run', () => {
    const gaps = gapsOf(polls);
    const [first = 0, second = 0, third = 0] = gaps;
    expect(first).toBeGreaterThan(8 * SECOND_MS);
    expect(first).toBeLessThan(13 * SECOND_MS);
    expect(second).toBeGreaterThan(1.5 * first);
    expect(third).toBeGreaterThan(1.5 * second);
    for (const gap of gaps.slice(10)) {
      expect(gap).toBeGreaterThan(4 * MINUTE_MS);
      expect(gap).toBeLessThan(5 * MINUTE_MS + 5 * SECOND_MS);
    }
  });

  test('ends within one polling cap of its final status', () => {
    expect(polls.length).toBeGreaterThan(280);
    expect(endedAfterMs).toBeGreaterThanOrEqual(DAY_MS);
    expect(endedAfterMs).toBeLessThan(DAY_MS + 5 * MINUTE_MS + 30 * SECOND_MS);
  });

  test('has as many history events after hundreds of polls as after one', async () => {
    const orderId = 'short-poll';
    await lab.result(await lab.orders.start('withdraw', orderInput('withdraw', orderId)), MINUTE_MS);
    expect(lab.gate.about(orderId, 'status')).toHaveLength(1);
    const { events } = await lab.history(orderId);
    expect((await lab.history(ORDER_ID)).events).toBe(events);
    expect(events).toBeLessThanOrEqual(24);
  });
});

describe('a delayed order', () => {
  const DELAY_MINUTES = 90;

  test.for(['withdraw', 'exchange_withdraw'] as const)(
    '%s: no status is asked before the delay is over',
    async (type) => {
      const orderId = `delayed-${type}`;
      const input = orderInput(type, orderId);
      const order = { ...input.order, delay_order_for_minutes: DELAY_MINUTES };
      const handle = await lab.orders.start(type, { ...input, order });
      expect(await lab.result(handle, 2 * HOUR_MS)).toMatchObject({ outcome: 'completed' });
      const [createdAtMs = 0] = lab.gate.about(orderId, 'create').map(({ atMs }) => atMs);
      const [firstStatusAtMs = 0] = lab.gate.about(orderId, 'status').map(({ atMs }) => atMs);
      const waitedMs = firstStatusAtMs - createdAtMs;
      expect(waitedMs).toBeGreaterThanOrEqual(DELAY_MINUTES * MINUTE_MS - SECOND_MS);
      expect(waitedMs).toBeLessThan((DELAY_MINUTES + 1) * MINUTE_MS);
    },
  );

  test('is sent with its delay', () => {
    const startsAfter = lab.sandbox.orders().map(({ order }) => [order.user_order_id, order.start_order_at !== null]);
    expect(Object.fromEntries(startsAfter)).toMatchObject({ 'delayed-withdraw': true, 'long-poll': false });
  });
});

test('a service that invents a new status at every poll is followed on, and the history stays small', async () => {
  const orderId = 'ever-new';
  let polls = 0;
  lab.gate.rule = ({ path, orderId: asked }) => {
    const order = lab.sandbox.orders().find((stored) => stored.order.user_order_id === orderId)?.order;
    if (asked !== orderId || !path.endsWith('/order/status') || !order) return undefined;
    polls += 1;
    return { status: 200, body: JSON.stringify({ status: 'success', data: { ...order, status: `held-${polls}` } }) };
  };
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId));
  await lab.skip(DAY_MS);
  expect(polls).toBeGreaterThan(250);
  expect((await lab.history(orderId)).scheduled('pollOrder')).toHaveLength(2);
  expect((await lab.history(orderId)).events).toBeLessThan(60);
  expect((await lab.state(orderId)).attention).toMatchObject({
    reason: expect.stringContaining('held-1"'),
    allowed: [],
  });

  lab.gate.rule = () => undefined;
  expect(await lab.result(handle, HOUR_MS)).toMatchObject({ outcome: 'completed' });
});

test('every history replays', async () => {
  expect(await lab.replayAll()).toBe(5);
});
