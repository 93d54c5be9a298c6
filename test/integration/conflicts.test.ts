import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { serviceOf } from '../../scripts/service-of.js';
import type { Order, OrderInput } from '../../src/contract/orders.js';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';
import { decideNow, parkedFor } from './fixtures/parked-orders.js';
import { serviceView } from './fixtures/service-view.js';

// The orders wait most of the time, and not for each other.
vi.setConfig({ maxConcurrency: 20 });

/** How long absence is read here. */
const WINDOW_MS = 3_000;

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ callbacks: false, pace: { settleWindowMs: { atOnce: WINDOW_MS, deposit: WINDOW_MS } } });
});
afterAll(() => lab?.close());

/** An order under the same id, created past our workflows: the same payment, or another one with other fields. */
async function createElsewhere({ order }: OrderInput<'withdraw'>, changes: { amount?: string } = {}): Promise<Order> {
  const service = await serviceOf(lab.sandbox);
  return service.createOrder('withdraw', { ...order, ...changes });
}

/** Our create was sent, answered with 500 and not executed. */
async function startUncertain(label: string) {
  const input = orderInput('withdraw', newOrderId(label), { marker: 'create=500-before duplicate=c' });
  const handle = await lab.orders.start('withdraw', input);
  await vi.waitFor(() => expect(serviceView(lab, handle.orderId).creates).toBe(1), 20_000);
  return { input, handle };
}

const lists = (orderId: string): number => lab.requestsOf(orderId).filter((path) => path.endsWith('/list')).length;

describe.concurrent('an uncertain order whose id only somebody else’s order has', () => {
  test('is never sent again; a person closes it as OrderConflict after absence of ours was proven again', async () => {
    const { input, handle } = await startUncertain('foreign');
    const sentAtMs = Date.now();
    const foreign = await createElsewhere(input, { amount: '99' });
    const { attention } = await parkedFor(handle, foreign.order_uuid);
    expect(Date.now() - sentAtMs).toBeGreaterThanOrEqual(WINDOW_MS);
    expect(attention).toMatchObject({ allowed: ['adopt', 'close-absent'], reason: expect.stringContaining('amount') });

    const before = lists(handle.orderId);
    const decidedAtMs = Date.now();
    await decideNow(handle, 'close-absent');
    await expect(handle.result()).rejects.toMatchObject({ name: 'OrderFailedError', type: 'OrderConflict' });
    expect(Date.now() - decidedAtMs).toBeGreaterThanOrEqual(WINDOW_MS);
    expect(lists(handle.orderId) - before).toBeGreaterThanOrEqual(3);
    // Ours, refused, and theirs.
    expect(serviceView(lab, handle.orderId)).toMatchObject({ creates: 2, executed: 1 });
  });

  test('cannot adopt that order', async () => {
    const { input, handle } = await startUncertain('not-ours');
    const foreign = await createElsewhere(input, { amount: '99' });
    await parkedFor(handle, foreign.order_uuid);
    await decideNow(handle, 'adopt', { order_uuid: foreign.order_uuid });
    expect((await parkedFor(handle, 'which ann chose')).order).toBeNull();
    await decideNow(handle, 'close-absent');
    await expect(handle.result()).rejects.toMatchObject({ type: 'OrderConflict' });
  });

  test('is not closed when ours turns up meanwhile: it is parked again, and can only be adopted', async () => {
    const { input, handle } = await startUncertain('turns-up');
    const foreign = await createElsewhere(input, { amount: '99' });
    await parkedFor(handle, foreign.order_uuid);
    await decideNow(handle, 'close-absent');
    const ours = await createElsewhere(input);
    const { attention, revision } = await parkedFor(handle, `like this payment: ${ours.order_uuid}`);
    expect(attention?.allowed).toEqual(['adopt']);
    const closing = handle.decide({ action: 'close-absent', by: 'ann', reason: 'gone', revision });
    await expect(closing).rejects.toMatchObject({ name: 'DecisionRefusedError' });
    await decideNow(handle, 'adopt', { order_uuid: ours.order_uuid });
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed', adopted: true, order: { order_uuid: ours.order_uuid } });
  });
});

describe.concurrent('a first create refused with 400', () => {
  test('because somebody else’s order has the id: ends as OrderConflict after absence of ours was read twice', async () => {
    const input = orderInput('withdraw', newOrderId('refused'), { marker: 'create=400 duplicate=c' });
    const handle = await lab.orders.start('withdraw', input);
    await vi.waitFor(() => expect(serviceView(lab, handle.orderId).creates).toBe(1), 20_000);
    await createElsewhere(input, { amount: '99' });
    await expect(handle.result()).rejects.toMatchObject({ name: 'OrderFailedError', type: 'OrderConflict' });
    // The probe and both readings.
    expect(lists(handle.orderId)).toBe(3);
    expect(serviceView(lab, handle.orderId)).toMatchObject({ creates: 2, executed: 1 });
  });
});

describe.concurrent('an id that several orders have, one of them ours', () => {
  test('after an uncertain create: is parked at once and can only be adopted', async () => {
    const { input, handle } = await startUncertain('several');
    const foreign = await createElsewhere(input, { amount: '99' });
    const ours = await createElsewhere(input);
    const { attention } = await parkedFor(handle, `like this payment: ${ours.order_uuid}`);
    expect(attention?.allowed).toEqual(['adopt']);
    await decideNow(handle, 'adopt', { order_uuid: foreign.order_uuid });
    await parkedFor(handle, 'which ann chose');
    await decideNow(handle, 'adopt', { order_uuid: ours.order_uuid });
    expect(await handle.result()).toMatchObject({ adopted: true, order: { order_uuid: ours.order_uuid } });
    // Ours, refused, and the two others: nothing was sent again.
    expect(serviceView(lab, handle.orderId).creates).toBe(3);
  });

  test('before the first send: nothing is sent and nothing fails, because ours exists', async () => {
    const input = orderInput('withdraw', newOrderId('before'), { marker: 'duplicate=c' });
    const [first] = [await createElsewhere(input), await createElsewhere(input)];
    const handle = await lab.orders.start('withdraw', input);
    const { attention } = await parkedFor(handle, 'several orders');
    expect(attention?.allowed).toEqual(['adopt']);
    await decideNow(handle, 'adopt', { order_uuid: first.order_uuid });
    expect(await handle.result()).toMatchObject({ adopted: true, order: { order_uuid: first.order_uuid } });
    expect(serviceView(lab, handle.orderId).creates).toBe(2);
  });

  test('none of them ours, before the first send: ends as OrderConflict and nothing is sent', async () => {
    const input = orderInput('withdraw', newOrderId('strangers'), { marker: 'duplicate=c' });
    await createElsewhere(input, { amount: '98' });
    await createElsewhere(input, { amount: '99' });
    const handle = await lab.orders.start('withdraw', input);
    await expect(handle.result()).rejects.toMatchObject({ name: 'OrderFailedError', type: 'OrderConflict' });
    expect(serviceView(lab, handle.orderId).creates).toBe(2);
  });
});
