import { describe, expect, test } from 'vitest';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import type { OrderInput } from '../../../src/contract/order/input-and-result.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, useGatedLab } from '../../support/gated-lab.js';
import { orderInput } from '../../support/inputs.js';

const lab = useGatedLab();

/** A withdraw with a delay whose first create is answered with 500 and not executed. */
function delayed(orderId: string, minutes: number): OrderInput<'withdraw'> {
  const input = orderInput('withdraw', orderId, { marker: 'create=500-before' });
  return { ...input, order: { ...input.order, delay_order_for_minutes: minutes } };
}

const delaysSent = (orderId: string): number[] =>
  lab.gate.about(orderId, 'create').map(({ body }) => Number(JSON.parse(body).delay_order_for_minutes));

describe('a delayed order whose create is uncertain and absent', () => {
  test('is sent again with what is left of its delay, so that it keeps its time', async () => {
    const orderId = 'delayed-resend';
    await lab.orders.start('withdraw', delayed(orderId, 30));
    await lab.skipUntil(async () => delaysSent(orderId).length === 2, MINUTE_MS, 20 * MINUTE_MS);
    const [first, second] = delaysSent(orderId);
    expect(first).toBe(30);
    // The settle window is 10 minutes.
    expect(second).toBeGreaterThanOrEqual(18);
    expect(second).toBeLessThanOrEqual(20);
    const handle = lab.orders.order(orderId);
    expect((await lab.result(handle, DAY_MS)).outcome).toBe('completed');
  });

  test('asks again when its time passed while a person was asked: what they permitted was no late payment', async () => {
    const orderId = 'delayed-late-while-asked';
    const handle = await lab.orders.start('withdraw', { ...delayed(orderId, 30), resend: 'never' });
    const parkedFor = (text: string) => async () => {
      const { phase, attention } = await lab.state(orderId);
      return phase === 'parked' && attention?.reason.includes(text) === true;
    };
    await lab.skipUntil(parkedFor('shows no such order'), MINUTE_MS, 20 * MINUTE_MS);
    const asked = await lab.state(orderId);
    expect(asked.attention?.reason).not.toContain('has passed');
    await lab.skip(30 * MINUTE_MS);
    const resend = { action: 'resend', by: 'ann', reason: 'in time' } as const;
    await handle.decide({ ...resend, revision: asked.revision });
    await lab.skipUntil(parkedFor('the time that it was to start at has passed'), SECOND_MS, MINUTE_MS);
    expect(delaysSent(orderId)).toHaveLength(1);
    await expect(handle.decide({ ...resend, revision: asked.revision })).rejects.toThrow('is stale');
    const { revision } = await lab.state(orderId);
    await handle.decide({ ...resend, reason: 'late is fine', revision });
    expect((await lab.result(handle, DAY_MS)).decisions?.map(({ reason }) => reason)).toEqual([
      'in time',
      'late is fine',
    ]);
    expect(delaysSent(orderId)).toEqual([30, 0]);
  });
});

/** A withdraw that the service executes at once. */
const plain = (orderId: string, order: object, options: object = {}) => {
  const input = orderInput('withdraw', orderId);
  return { ...input, ...options, order: { ...input.order, ...order } };
};

const parkedAs = (orderId: string, code: string) => async () => {
  const { phase, attention } = await lab.state(orderId);
  return phase === 'parked' && attention?.code === code;
};

describe('a delayed order of which nothing was sent', () => {
  /** Its probes fail until the time has passed. */
  async function heldUp(orderId: string, order: object): Promise<OrderHandle> {
    lab.gate.rule = ({ orderId: about, path }) =>
      about === orderId && path.endsWith('/list') ? { status: 503, body: 'down' } : undefined;
    return lab.orders.start('withdraw', plain(orderId, order));
  }

  test('is sent with the rest of its delay', async () => {
    const orderId = 'delayed-rest';
    const handle = await heldUp(orderId, { delay_order_for_minutes: 30 });
    await lab.skip(10 * MINUTE_MS);
    lab.gate.rule = () => undefined;
    await lab.skipUntil(() => delaysSent(orderId).length === 1, SECOND_MS, 5 * MINUTE_MS);
    expect(delaysSent(orderId)[0]).toBeGreaterThanOrEqual(15);
    expect(delaysSent(orderId)[0]).toBeLessThanOrEqual(20);
    expect((await lab.result(handle, DAY_MS)).outcome).toBe('completed');
  });

  test('asks when its time has passed, and is sent at once where a person wants it', async () => {
    const orderId = 'delayed-first-late';
    const handle = await heldUp(orderId, { delay_order_for_minutes: 5 });
    await lab.skip(6 * MINUTE_MS);
    lab.gate.rule = () => undefined;
    await lab.skipUntil(parkedAs(orderId, 'not-sent'), SECOND_MS, 5 * MINUTE_MS);
    const { revision, attention } = await lab.state(orderId);
    expect(attention).toMatchObject({
      reason: expect.stringMatching(/^nothing was sent: the time that it was to start at has passed \(2\d{3}-.*UTC\)$/),
      allowed: ['resend', 'close-absent'],
    });
    expect(delaysSent(orderId)).toEqual([]);
    await handle.decide({ action: 'resend', by: 'ann', reason: 'late is fine', revision });
    expect((await lab.result(handle, DAY_MS)).outcome).toBe('completed');
    expect(delaysSent(orderId)).toEqual([0]);
  });

  test('ends unsent where a person does not want it, or cancels it', async () => {
    const ends = [];
    for (const how of ['close-absent', 'cancel'] as const) {
      const orderId = `delayed-${how}`;
      const handle = await heldUp(orderId, { delay_order_for_minutes: 5 });
      await lab.skip(6 * MINUTE_MS);
      lab.gate.rule = () => undefined;
      await lab.skipUntil(parkedAs(orderId, 'not-sent'), SECOND_MS, 5 * MINUTE_MS);
      const { revision } = await lab.state(orderId);
      if (how === 'cancel') await lab.cancel(orderId);
      else await handle.decide({ action: how, by: 'ann', reason: 'too late', revision });
      ends.push(await lab.result(handle, DAY_MS).catch((error: { type?: string }) => error.type));
      expect(delaysSent(orderId)).toEqual([]);
    }
    expect(ends).toEqual(['OrderAbsent', 'OrderCancelled']);
  });
});

describe('the latest send time', () => {
  const in5Minutes = async () => new Date(Date.now() + 5 * MINUTE_MS).toISOString();

  test('over before anything was sent: the order ends as OrderCancelled', async () => {
    const orderId = 'latest-over';
    const latestSend = await in5Minutes();
    lab.gate.rule = ({ orderId: about, path }) =>
      about === orderId && path.endsWith('/list') ? { status: 503, body: 'down' } : undefined;
    const handle = await lab.orders.start('withdraw', plain(orderId, {}, { latestSend }));
    await lab.skip(6 * MINUTE_MS);
    lab.gate.rule = () => undefined;
    await expect(lab.result(handle, HOUR_MS)).rejects.toMatchObject({
      type: 'OrderCancelled',
      message: expect.stringContaining(`its latest send time ${latestSend} is over`),
    });
    expect(delaysSent(orderId)).toEqual([]);
  });

  test('over while a create is in doubt: nothing is sent again, and a person may not have it sent either', async () => {
    const orderId = 'latest-in-doubt';
    const input = orderInput('withdraw', orderId, { marker: 'create=500-before' });
    const handle = await lab.orders.start('withdraw', { ...input, latestSend: await in5Minutes() });
    await lab.skipUntil(parkedAs(orderId, 'uncertain-create'), MINUTE_MS, 30 * MINUTE_MS);
    const { attention, revision } = await lab.state(orderId);
    expect(attention).toMatchObject({
      reason: expect.stringContaining('its latest send time is over'),
      allowed: ['close-absent', 'adopt'],
    });
    const decision = { by: 'ann', reason: 'too late', revision } as const;
    await expect(handle.decide({ ...decision, action: 'resend' })).rejects.toThrow('resend is not allowed');
    await handle.decide({ ...decision, action: 'close-absent' });
    await expect(lab.result(handle, DAY_MS)).rejects.toMatchObject({ type: 'OrderAbsent' });
    expect(delaysSent(orderId)).toHaveLength(1);
  });

  test('over while a person is asked: nobody can permit a send after it', async () => {
    const orderId = 'latest-while-asked';
    const latestSend = new Date(Date.now() + 30 * MINUTE_MS).toISOString();
    const input = orderInput('withdraw', orderId, { marker: 'create=500-before', resend: 'never' });
    const handle = await lab.orders.start('withdraw', { ...input, latestSend });
    await lab.skipUntil(parkedAs(orderId, 'uncertain-create'), MINUTE_MS, 20 * MINUTE_MS);
    const { revision, attention } = await lab.state(orderId);
    expect(attention?.allowed).toContain('resend');
    await lab.skip(30 * MINUTE_MS);
    const late = handle.decide({ action: 'resend', by: 'ann', reason: 'in time', revision });
    await expect(late).rejects.toThrow('resend is not allowed; allowed now: close-absent, adopt. Latest send');
    expect((await lab.state(orderId)).attention?.allowed).toEqual(['close-absent', 'adopt']);
    expect(delaysSent(orderId)).toHaveLength(1);
  });

  test('not over: the order is sent, and a start with another one is a conflict', async () => {
    const orderId = 'latest-in-time';
    const input = plain(orderId, {}, { latestSend: await in5Minutes() });
    const handle = await lab.orders.start('withdraw', input);
    expect((await lab.result(handle, HOUR_MS)).outcome).toBe('completed');
    const other = lab.orders.start('withdraw', { ...input, latestSend: '2999-01-01T00:00:00Z' });
    await expect(other).rejects.toThrow('latestSend');
  });
});

test('the histories replay', () => lab.replayAll());
