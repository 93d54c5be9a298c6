import { expect, test } from 'vitest';
import type { OrderInput } from '../../../src/contract/order/input-and-result.js';
import { HOUR_MS, MINUTE_MS, SECOND_MS, useGatedLab } from '../../support/gated-lab.js';
import { orderInput } from '../../support/inputs.js';

const lab = useGatedLab({ PAYMENT_NOT_EXECUTED_STATUSES: '423' });

const decide = async (orderId: string, action: 'resend' | 'close-absent'): Promise<void> => {
  const { revision } = await lab.state(orderId);
  await lab.orders.order(orderId).decide({ action, by: 'ann', reason: 'looked it up', revision });
};

const untilParked = (orderId: string) =>
  lab.skipUntil(async () => (await lab.state(orderId)).phase === 'parked', 30 * SECOND_MS, 6 * HOUR_MS);

/** Creates of an order as the service got them: the delay asked for, in minutes. */
const delaysSent = (orderId: string): number[] =>
  lab.gate.about(orderId, 'create').map(({ body }) => Number(JSON.parse(body).delay_order_for_minutes));

test('a delayed order that may be sent again, and is made to wait beyond its time, is not sent unasked', async () => {
  const orderId = 'delayed-and-limited';
  const input = orderInput('withdraw', orderId, { marker: 'create=500-before' });
  let creates = 0;
  lab.gate.rule = ({ path, orderId: asked }) => {
    if (asked !== orderId || !path.endsWith('/order/withdraw')) return undefined;
    creates += 1;
    return creates === 1 ? undefined : { status: 429, headers: { 'retry-after': '60' } };
  };
  const order = { ...input.order, delay_order_for_minutes: 30 };
  const handle = await lab.orders.start('withdraw', { ...input, order } as OrderInput<'withdraw'>);
  await lab.skipUntil(async () => creates === 3, 30 * SECOND_MS, HOUR_MS);
  // Then the service shows nothing for two hours.
  const isRead = (path: string) => path.endsWith('/list') || path.endsWith('/status');
  lab.gate.rule = ({ path, orderId: asked }) =>
    asked === orderId && isRead(path) ? { status: 503, body: '{}' } : undefined;
  await lab.skip(2 * HOUR_MS);
  lab.gate.rule = () => undefined;
  await untilParked(orderId);
  expect((await lab.state(orderId)).attention).toMatchObject({
    reason: expect.stringContaining('the time that it was to start at has passed'),
    allowed: ['resend', 'close-absent', 'adopt'],
  });
  expect(Math.min(...delaysSent(orderId))).toBeGreaterThan(0);
  const sent = delaysSent(orderId).length;
  await lab.skip(10 * MINUTE_MS);
  expect(delaysSent(orderId)).toHaveLength(sent);

  await decide(orderId, 'resend');
  expect(await lab.result(handle, HOUR_MS)).toMatchObject({ outcome: 'completed' });
  expect(delaysSent(orderId)).toHaveLength(sent + 1);
  expect(lab.sandbox.stats().executedByOrderId[orderId]).toBe(1);
});

test('an order that may be sent again, and is made to wait, is not sent unasked once it was cancelled', async () => {
  const orderId = 'cancelled-and-limited';
  let creates = 0;
  let isOpen = false;
  lab.gate.rule = ({ path, orderId: asked }) => {
    if (asked !== orderId || !path.endsWith('/order/withdraw')) return undefined;
    creates += 1;
    return creates === 1 || isOpen ? undefined : { status: 423, body: '{}' };
  };
  const input = orderInput('withdraw', orderId, { marker: 'create=500-before' });
  const handle = await lab.orders.start('withdraw', input);
  await lab.skipUntil(async () => creates > 2, 30 * SECOND_MS, HOUR_MS);
  await lab.cancel(orderId);
  isOpen = true;
  await untilParked(orderId);
  expect(lab.sandbox.stats().executedByOrderId[orderId]).toBeUndefined();

  await decide(orderId, 'resend');
  expect(await lab.result(handle, HOUR_MS)).toMatchObject({ outcome: 'completed' });
  expect(lab.sandbox.stats().executedByOrderId[orderId]).toBe(1);
});

test('a person who is asked for a re-send is asked anew once the order was cancelled: what they permitted was another one', async () => {
  const orderId = 'cancelled-while-asked';
  const input = orderInput('withdraw', orderId, { marker: 'create=500-before' });
  const handle = await lab.orders.start('withdraw', { ...input, resend: 'never' });
  await untilParked(orderId);
  const { revision } = await lab.state(orderId);
  await lab.cancel(orderId);
  const reason = async () => (await lab.state(orderId)).attention?.reason;
  await expect.poll(reason, { timeout: 60_000 }).toContain('it was cancelled');
  const stale = handle.decide({ action: 'resend', by: 'ops', reason: 'seen before it was cancelled', revision });
  await expect(stale).rejects.toThrow(/is stale/);
  expect((await lab.state(orderId)).phase).toBe('parked');
  expect(lab.sandbox.stats().executedByOrderId[orderId]).toBeUndefined();

  await decide(orderId, 'resend');
  expect(await lab.result(handle, HOUR_MS)).toMatchObject({ outcome: 'completed' });
  expect(lab.sandbox.stats().executedByOrderId[orderId]).toBe(1);
});

test('the histories replay', async () => {
  expect(await lab.replayAll()).toBe(3);
});
