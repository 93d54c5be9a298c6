import { afterAll, beforeAll, expect, test } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { DAY_MS, MINUTE_MS, openSkippingLab, type SkippingLab } from '../support/skipping-lab.js';

const DAYS = 20;

let lab: SkippingLab;
beforeAll(async () => {
  lab = await openSkippingLab({ ORDER_POLL_MAX: '6h' });
});
afterAll(() => lab?.close());

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

  lab.gate.showAsCreated(orderId, await lab.nowMs());
  await lab.callback(orderId);
  expect(await lab.result(handle, MINUTE_MS)).toMatchObject({ outcome: 'completed', adopted: false });

  expect(lab.gate.about(orderId, 'status')).toHaveLength(polls + 1);
  const history = await lab.history(orderId);
  expect(history.scheduled('lookUpOrder')).toHaveLength(1);
  expect(history.scheduled('pollOrder')).toHaveLength(1);
  expect(history.events).toBeLessThanOrEqual(24);
  expect(lab.sandbox.stats().executedByOrderId[orderId]).toBe(1);
});

test('every history replays', async () => {
  expect(await lab.replayAll()).toBe(1);
});
