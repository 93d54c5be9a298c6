import { describe, expect, test } from 'vitest';
import type { CreateOrderInput } from '../../../src/contract/order/activities.js';
import type { OrderType } from '../../../src/contract/order/types.js';
import { orderInput } from '../../support/inputs.js';
import { attemptOf, openActivities, operations } from '../activity-lab.fixture.js';

const MINUTE_MS = 60_000;
const FAR = '2999-01-01T00:00:00Z';

const delayed = (minutes: number, type: OrderType = 'withdraw') => {
  const input = orderInput(type, 'd-1');
  return { ...input, order: { ...input.order, delay_order_for_minutes: minutes } };
};

/** One attempt of an order whose run started `agoMs` before the server handed the attempt out. */
async function attempted(
  input: unknown,
  agoMs: number,
  changes: Partial<CreateOrderInput> = {},
  type: OrderType = 'withdraw',
) {
  const nowMs = Date.now();
  const { sandbox, run } = await openActivities({}, { attemptStartedMs: async () => nowMs });
  const verdict = await run('createOrder', attemptOf(type, input, { startedAtMs: nowMs - agoMs, ...changes }));
  const [found] = sandbox.orders();
  const { created_at, start_order_at } = found?.order ?? {};
  const delay = start_order_at ? Date.parse(`${start_order_at}Z`) - Date.parse(`${created_at}Z`) : 0;
  return {
    verdict,
    sent: sandbox.orders().length,
    delayMinutes: Math.round(delay / MINUTE_MS),
    operations: operations(sandbox),
  };
}

describe('a delay counts from the start of the run', () => {
  test.for<[type: OrderType, minutes: number, agoMs: number, sent: number]>([
    ['withdraw', 1, 0, 1],
    ['withdraw', 2, 75_000, 1],
    ['withdraw', 30, 10 * MINUTE_MS, 20],
    ['exchange_withdraw', 30, 10 * MINUTE_MS + 1, 20],
  ])('%s, %i minutes, taken %i ms late: is sent with %i', async ([type, minutes, agoMs, left]) => {
    const { verdict, delayMinutes } = await attempted(delayed(minutes, type), agoMs, {}, type);
    expect(verdict).toMatchObject({ kind: 'accepted' });
    expect(delayMinutes).toBe(left);
  });

  test.for<[OrderType, CreateOrderInput['permission']]>([
    ['withdraw', 'first'],
    ['withdraw', 'absent'],
    ['exchange_withdraw', 'first'],
  ])('%s of one minute, taken 75 s late, permission %s: is not sent', async ([type, permission]) => {
    const { verdict, sent } = await attempted(delayed(1, type), 75_000, { permission }, type);
    expect(verdict).toMatchObject({ kind: 'notSent', reason: 'the time that it was to start at has passed' });
    expect(sent).toBe(0);
  });

  test('passed, and a person permitted it: is sent without delay', async () => {
    const { verdict, sent, delayMinutes } = await attempted(delayed(1), 75_000, { late: true });
    expect([verdict.kind, sent, delayMinutes]).toEqual(['accepted', 1, 0]);
  });

  test('passed, but the order is there: it is adopted', async () => {
    const { run } = await openActivities();
    await run('createOrder', attemptOf('withdraw', delayed(1)));
    const late = attemptOf('withdraw', delayed(1), { startedAtMs: Date.now() - 75_000 });
    expect(await run('createOrder', late)).toMatchObject({ kind: 'adopted' });
  });

  test("the server's clock cannot be read: nothing is sent", async () => {
    const { sandbox, run } = await openActivities({}, { attemptStartedMs: () => Promise.reject(new Error('down')) });
    expect(await run('createOrder', attemptOf('withdraw', delayed(1)))).toMatchObject({ kind: 'notSent' });
    expect(await run('createOrder', attemptOf('withdraw'))).toMatchObject({ kind: 'accepted' });
    expect(operations(sandbox)).toEqual(['list', 'create']);
  });
});

describe('the latest send time', () => {
  const until = (latestSend: string, type: OrderType = 'withdraw') => ({ ...orderInput(type, 'l-1'), latestSend });
  const over = () => new Date(Date.now() - 1_000).toISOString();
  const soon = () => new Date(Date.now() + MINUTE_MS).toISOString();

  test('not over: is sent', async () => {
    expect((await attempted(until(FAR), 0)).verdict).toMatchObject({ kind: 'accepted' });
    expect((await attempted(until(soon()), 0)).verdict).toMatchObject({ kind: 'accepted' });
  });

  test.for<[OrderType, CreateOrderInput['permission'], string]>([
    ['withdraw', 'first', 'stale'],
    ['withdraw', 'absent', 'notSent'],
    ['exchange', 'first', 'stale'],
    ['deposit', 'first', 'stale'],
  ])('over: %s, permission %s, is not sent after the probe, and answers %s', async ([type, permission, kind]) => {
    const latestSend = over();
    const { verdict, sent, operations: asked } = await attempted(until(latestSend, type), 0, { permission }, type);
    expect(verdict).toMatchObject({ kind, reason: `its latest send time ${latestSend} is over` });
    expect([sent, asked]).toEqual([0, ['list']]);
  });

  test('over: no permission for a late order overrules it', async () => {
    const input = { ...delayed(1), latestSend: over() };
    expect((await attempted(input, 75_000, { late: true })).verdict).toMatchObject({ kind: 'stale' });
  });

  test.for([
    ["by the worker's clock", { nowMs: () => Date.now() + 2 * MINUTE_MS }],
    ["by the server's clock", { attemptStartedMs: async () => Date.now() + 2 * MINUTE_MS }],
  ] as const)('over %s alone: is not sent', async ([, clock]) => {
    const { sandbox, run } = await openActivities({}, clock);
    expect(await run('createOrder', attemptOf('withdraw', until(soon())))).toMatchObject({ kind: 'stale' });
    expect(sandbox.orders()).toEqual([]);
  });

  test('over while the server is asked right before the send: is not sent', async () => {
    let aheadMs = 0;
    const { sandbox, run } = await openActivities({}, { nowMs: () => Date.now() + aheadMs });
    const onHeartbeat = () => {
      aheadMs = 2 * MINUTE_MS;
    };
    const attempt = attemptOf('withdraw', until(soon()));
    expect(await run('createOrder', attempt, { onHeartbeat })).toMatchObject({ kind: 'stale' });
    expect(operations(sandbox)).toEqual(['list']);
  });

  test.for(['tomorrow', '2026-13-01T00:00:00Z', '2026-11-27', 5])('%j: is InvalidOrder', async (latestSend) => {
    const { run } = await openActivities();
    const attempt = attemptOf('withdraw', until(latestSend as string));
    await expect(run('createOrder', attempt)).rejects.toMatchObject({
      type: 'InvalidOrder',
      message: expect.stringContaining('latestSend'),
    });
  });
});
