import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OrderInput } from '../../../src/contract/order/input-and-result.js';
import { orderInput } from '../../support/inputs.js';
import { DAY_MS, MINUTE_MS, openSkippingLab, SECOND_MS, type SkippingLab } from '../../support/skipping-lab.js';

let lab: SkippingLab;
beforeAll(async () => {
  lab = await openSkippingLab();
});
afterAll(() => lab?.close());

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

  test('parks when its time has passed meanwhile: a person says whether it is still wanted', async () => {
    const orderId = 'delayed-too-late';
    await lab.orders.start('withdraw', delayed(orderId, 5));
    const parked = async () => (await lab.state(orderId)).phase === 'parked';
    await lab.skipUntil(parked, MINUTE_MS, 20 * MINUTE_MS);
    expect((await lab.state(orderId)).attention?.allowed).toEqual(['resend', 'close-absent', 'adopt']);
    expect(delaysSent(orderId)).toHaveLength(1);
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

test('the histories replay', () => lab.replayAll());
