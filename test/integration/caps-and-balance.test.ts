import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';
import { decideNow, parkedFor, startSteered } from './fixtures/parked-orders.js';

let lab: Lab;
beforeAll(async () => {
  const caps = new Map([
    ['usd', '100'],
    ['usdt', '50'],
  ]);
  lab = await openLab({ limits: { caps, checkBalance: true } });
});
afterAll(() => lab?.close());

const creates = (orderId: string): number => lab.sandbox.stats().createsByOrderId[orderId] ?? 0;

describe('an order above the cap of its currency', () => {
  test('waits for a person with nothing sent, and is sent once when approved', async () => {
    const { orderId, handle } = await startSteered(lab, 'exchange', { marker: '', order: { amount: '100.01' } });
    const { attention } = await parkedFor(handle, '100.01 usd is above the cap of 100 usd');
    expect(attention?.allowed).toEqual(['approve', 'refuse']);
    expect(creates(orderId)).toBe(0);
    await decideNow(handle, 'approve');
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed', decisions: [{ action: 'approve', by: 'ann' }] });
    expect(creates(orderId)).toBe(1);
  });

  test('ends as OrderCancelled when refused', async () => {
    const { orderId, handle } = await startSteered(lab, 'exchange', { marker: '', order: { amount: '5000' } });
    await parkedFor(handle, 'above the cap');
    await decideNow(handle, 'refuse');
    await expect(handle.result()).rejects.toMatchObject({ type: 'OrderCancelled' });
    expect(creates(orderId)).toBe(0);
  });

  test('ends as OrderCancelled when its workflow is cancelled', async () => {
    const { orderId, handle } = await startSteered(lab, 'exchange', { marker: '', order: { amount: '5000' } });
    await parkedFor(handle, 'above the cap');
    await lab.temporal.client.workflow.getHandle(handle.workflowId).cancel();
    await expect(handle.result()).rejects.toMatchObject({ type: 'OrderCancelled' });
    expect(creates(orderId)).toBe(0);
  });

  test('is measured in the currency its amount is given in', async () => {
    const order = { amount: undefined, amount_to: '50.5' };
    const { handle } = await startSteered(lab, 'exchange_withdraw', { marker: '', order });
    await parkedFor(handle, '50.5 usdt is above the cap of 50 usdt');
    await decideNow(handle, 'refuse');
  });

  test('an order at the cap is sent without asking', async () => {
    const { handle } = await startSteered(lab, 'exchange', { marker: '', order: { amount: '100.00' } });
    expect((await handle.result()).outcome).toBe('completed');
  });
});

test('a payout that the balance does not cover is InvalidOrder with the figures, and nothing is sent', async () => {
  lab.sandbox.set({ balances: { usd: '12.51' } });
  const orderId = newOrderId('poor');
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId));
  await expect(handle.result()).rejects.toMatchObject({
    type: 'InvalidOrder',
    fields: [{ field: 'order.amount', reason: expect.stringMatching(/^the balance of 12\.51 usd is less than 1\d/) }],
  });
  expect(creates(orderId)).toBe(0);
});
