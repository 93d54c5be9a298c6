import { expect, test, vi } from 'vitest';
import { DAY_MS, MINUTE_MS, useGatedLab } from '../../support/gated-lab.js';
import { orderInput } from '../../support/inputs.js';
import { listAnswer, operationOf } from '../../support/service-gate.js';

const DAYS = 20;

const lab = useGatedLab({ ORDER_POLL_MAX: '6h' });

test('a callback that comes after 20 days ends the order by one look-up, and the history stayed small', async () => {
  const orderId = 'late-callback';
  lab.gate.showAsCreated(orderId, Number.POSITIVE_INFINITY);
  const handle = await lab.orders.start('exchange', orderInput('exchange', orderId));
  for (let day = 1; day <= DAYS; day += 1) {
    await lab.skip(DAY_MS);
    expect(await lab.state(orderId)).toMatchObject({ phase: 'following', status: 'processing' });
  }
  const polls = lab.gate.about(orderId, 'status').length;
  expect(polls).toBeGreaterThan(4 * (DAYS - 1));
  expect(polls).toBeLessThan(6 * DAYS);
  expect((await lab.state(orderId)).attention).toBeUndefined();

  lab.gate.showAsCreated(orderId, Date.now());
  await lab.callback(orderId);
  expect(await lab.result(handle, MINUTE_MS)).toMatchObject({ outcome: 'completed', adopted: false });

  expect(lab.gate.about(orderId, 'status')).toHaveLength(polls + 1);
  const history = await lab.history(orderId);
  expect(history.scheduled('lookUpOrder')).toHaveLength(1);
  expect(history.scheduled('pollOrder')).toHaveLength(1);
  expect(history.events).toBeLessThanOrEqual(28);
  expect(lab.sandbox.stats().executedByOrderId[orderId]).toBe(1);
});

/** Lists and statuses that show an order otherwise than the service has it. */
function showInstead(orderId: string, shown: () => object[]): void {
  lab.gate.rule = ({ path, orderId: asked, body }) => {
    const executed = lab.sandbox.orders().some(({ order }) => order.user_order_id === orderId);
    if (asked !== orderId || !executed) return undefined;
    if (operationOf(path) === 'status') return { status: 400 };
    return operationOf(path) === 'list' ? listAnswer(body, shown()) : undefined;
  };
}

test('a callback is heard while a person is asked about a conflict; which of several orders to follow stays for a person to say', async () => {
  const orderId = 'late-in-conflict';
  const items = () =>
    lab.sandbox.orders().flatMap(({ order }) => (order.user_order_id === orderId ? [{ ...order }] : []));
  const foreign = () => items().map((order) => ({ ...order, order_uuid: 'foreign', expected_amount_from: '99' }));
  showInstead(orderId, foreign);
  const handle = await lab.orders.start('exchange', orderInput('exchange', orderId, { marker: 'create=500-after' }));
  await lab.skipUntil(async () => (await lab.state(orderId)).phase === 'parked', MINUTE_MS, 30 * MINUTE_MS);
  const { attention: asked } = await lab.state(orderId);
  expect(asked).toMatchObject({ allowed: ['adopt', 'close-absent'], reason: expect.stringContaining('foreign') });
  const lists = () => lab.gate.about(orderId, 'list').length;
  const before = lists();

  // Nothing new: the person is asked the same.
  await lab.callback(orderId);
  await vi.waitFor(async () => {
    expect(lists()).toBe(before + 2);
    expect(await lab.state(orderId)).toMatchObject({
      phase: 'parked',
      attention: { ...asked, since: expect.anything() },
    });
  }, 60_000);

  // Ours as well: that none exists can no longer be decided.
  showInstead(orderId, () => [...foreign(), ...items()]);
  await lab.callback(orderId);
  await vi.waitFor(async () => {
    expect((await lab.state(orderId)).attention).toMatchObject({
      allowed: ['adopt'],
      reason: expect.stringContaining('like this payment'),
    });
  }, 60_000);

  // Ours alone, as from a list that lags: the other one may exist all the same.
  lab.gate.rule = () => undefined;
  const shown = lists();
  await lab.callback(orderId);
  await vi.waitFor(async () => {
    expect(lists()).toBe(shown + 2);
    expect(await lab.state(orderId)).toMatchObject({ phase: 'parked', attention: { allowed: ['adopt'] } });
  }, 60_000);
  const [order_uuid = ''] = items().map((item) => item.order_uuid);
  const { revision } = await lab.state(orderId);
  await lab.orders.order(orderId).decide({ action: 'adopt', by: 'ann', reason: 'ours', revision, order_uuid });
  expect(await lab.result(handle, MINUTE_MS)).toMatchObject({ outcome: 'completed', adopted: true });
  expect(lab.gate.about(orderId, 'create')).toHaveLength(1);
});

test("an order that was shown as somebody else's is followed once a callback has it shown as ours", async () => {
  const orderId = 'ours-after-all';
  const items = () => lab.sandbox.orders().flatMap(({ order }) => (order.user_order_id === orderId ? [order] : []));
  showInstead(orderId, () => items().map((order) => ({ ...order, expected_amount_from: '99' })));
  const handle = await lab.orders.start('exchange', orderInput('exchange', orderId, { marker: 'create=500-after' }));
  await lab.skipUntil(async () => (await lab.state(orderId)).phase === 'parked', MINUTE_MS, 30 * MINUTE_MS);
  lab.gate.rule = () => undefined;
  await lab.callback(orderId);
  expect(await lab.result(handle, MINUTE_MS)).toMatchObject({ outcome: 'completed', adopted: true });
  expect(lab.gate.about(orderId, 'create')).toHaveLength(1);
});

test('every history replays', async () => {
  expect(await lab.replayAll()).toBe(3);
});
