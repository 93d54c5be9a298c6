import { describe, expect, test, vi } from 'vitest';
import { serviceOf } from '../../../scripts/service-of.js';
import type { OrderInput } from '../../../src/contract/order/input-and-result.js';
import type { Order } from '../../../src/contract/service-objects.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';
import { decideNow, parkedFor } from '../compensation/parked-orders.fixture.js';
import { serviceView } from './service-view.fixture.js';

// The orders wait most of the time, and not for each other.
vi.setConfig({ maxConcurrency: 20 });

/** How long absence is read here. */
const WINDOW_MS = 3_000;

const lab = useLab({ callbacks: false, pace: { settleWindowMs: { atOnce: WINDOW_MS, deposit: WINDOW_MS } } });

/** An order under the same id, created past our workflows: the same payment, or another one with other fields. */
async function createElsewhere(
  { order }: OrderInput<'withdraw'>,
  changes: { amount?: string; wallet?: string } = {},
): Promise<Order> {
  const service = await serviceOf(lab.sandbox);
  return service.createOrder('withdraw', { ...order, ...changes });
}

/** Our create was sent, answered with 500 and not executed. */
async function startUncertain(label: string) {
  const input = orderInput('withdraw', newOrderId(label), { marker: 'create=500-before duplicate=c' });
  const handle = await lab.orders.start('withdraw', input);
  await vi.waitFor(() => expect(serviceView(lab, handle.orderId).creates).toBe(1), 60_000);
  return { input, handle };
}

/** The order as the list of orders with a status shows it, once Temporal's visibility has it. */
const listedAs = (orderId: string, status: string) =>
  vi.waitUntil(async () => {
    const found = (await lab.orders.list({ status })).orders.filter((order) => order.orderId === orderId);
    return found.length > 0 && found;
  }, 60_000);

const lists = (orderId: string): number => lab.requestsOf(orderId).filter((path) => path.endsWith('/list')).length;

describe.concurrent('an uncertain order whose id only somebody else’s order has', () => {
  test('is never sent again; closed by a person it says that it may exist, and is never started again', async () => {
    const { input, handle } = await startUncertain('foreign');
    const sentAtMs = Date.now();
    const foreign = await createElsewhere(input, { amount: '99' });
    const { attention } = await parkedFor(handle, foreign.order_uuid);
    expect(Date.now() - sentAtMs).toBeGreaterThanOrEqual(WINDOW_MS);
    expect(attention).toMatchObject({ allowed: ['adopt', 'close-absent'], reason: expect.stringContaining('amount') });

    const before = lists(handle.orderId);
    const decidedAtMs = Date.now();
    await decideNow(handle, 'close-absent');
    await expect(handle.result()).rejects.toMatchObject({ name: 'UnresolvedError', subject: 'order', closed: true });
    const again = lab.orders.start('withdraw', input, { again: true });
    await expect(again).rejects.toMatchObject({
      name: 'RefusedError',
      subject: 'order',
      request: 'again',
      undecided: true,
    });
    const [listed] = await listedAs(handle.orderId, 'unresolved');
    expect(listed).toMatchObject({ status: 'unresolved', needsAttention: false });
    expect(Date.now() - decidedAtMs).toBeGreaterThanOrEqual(WINDOW_MS);
    expect(lists(handle.orderId) - before).toBeGreaterThanOrEqual(3);
    // Ours, refused, and theirs.
    expect(serviceView(lab, handle.orderId)).toMatchObject({ creates: 2, executed: 1 });
  });

  test('cannot adopt that order, unless exactly the fields are named in which it differs', async () => {
    const { input, handle } = await startUncertain('not-ours');
    const foreign = await createElsewhere(input, { amount: '99', wallet: '5555555555554444' });
    const shown = 'wallet (asked for ****1111, shown ****4444), amount (asked for 12.50, shown 99)';
    await parkedFor(handle, shown);
    const named = [undefined, ['wallet'], ['wallet', 'amount', 'currency']];
    for (const differences of named) {
      await decideNow(handle, 'adopt', { order_uuid: foreign.order_uuid, ...(differences && { differences }) });
      const state = await parkedFor(handle, 'which ann chose');
      expect(state.order).toBeNull();
      expect(state.attention?.reason).toContain('name exactly these fields as differences: wallet,amount');
    }
    await decideNow(handle, 'adopt', { order_uuid: foreign.order_uuid, differences: ['amount', 'wallet'] });
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed', adopted: true, order: { order_uuid: foreign.order_uuid } });
    expect(result.echoDifferences).toEqual(['wallet', 'amount']);
    expect(result.decisions?.at(-1)).toMatchObject({ action: 'adopt', differences: ['amount', 'wallet'] });
    expect(serviceView(lab, handle.orderId)).toMatchObject({ creates: 2, executed: 1 });
  });

  test('never adopts an order of another id, whatever is named', async () => {
    const { input, handle } = await startUncertain('other-id');
    const foreign = await createElsewhere(input, { amount: '99' });
    const other = orderInput('withdraw', newOrderId('elsewhere'));
    const elsewhere = await createElsewhere(other, { amount: '99' });
    await parkedFor(handle, foreign.order_uuid);
    await decideNow(handle, 'adopt', { order_uuid: elsewhere.order_uuid, differences: ['amount'] });
    expect((await parkedFor(handle, 'is another payment')).order).toBeNull();
    const { revision } = await handle.state();
    const named = { action: 'adopt', by: 'ann', reason: 'x', revision, order_uuid: elsewhere.order_uuid } as const;
    for (const differences of [['order_id'], [], ['amount', 'amount'], 'amount' as unknown as string[]]) {
      const refused = handle.decide({ ...named, differences });
      await expect(refused).rejects.toMatchObject({ name: 'RefusedError', subject: 'order', request: 'decision' });
    }
  });

  test('that a person adopted moves no money for what it left: what was asked for is not known', async () => {
    const input = orderInput('withdraw', newOrderId('partial'), {
      marker: 'create=500-before duplicate=c outcome=completed_partially fraction=0.4',
      compensation: 'finish',
    });
    const handle = await lab.orders.start('withdraw', input);
    await vi.waitFor(() => expect(serviceView(lab, handle.orderId).creates).toBe(1), 60_000);
    const foreign = await createElsewhere(input, { amount: '99' });
    await parkedFor(handle, foreign.order_uuid);
    await decideNow(handle, 'adopt', { order_uuid: foreign.order_uuid, differences: ['amount'] });
    const { attention } = await parkedFor(handle, 'although it differs in amount');
    expect(attention?.allowed).toEqual(['accept']);
    await decideNow(handle, 'accept');
    expect(await handle.result()).toMatchObject({ outcome: 'completed_partially' });
  });
});

describe.concurrent('a first create refused with 400', () => {
  test('because somebody else’s order has the id: a person is asked, because the refused create was sent', async () => {
    const input = orderInput('withdraw', newOrderId('refused'), { marker: 'create=400 duplicate=c' });
    const handle = await lab.orders.start('withdraw', input);
    await vi.waitFor(() => expect(serviceView(lab, handle.orderId).creates).toBe(1), 60_000);
    await createElsewhere(input, { amount: '99' });
    const { attention } = await parkedFor(handle, 'differs in amount');
    expect(attention?.allowed).toEqual(['adopt', 'close-absent']);
    // The probe, and a reading, with the page that shows the end of the list if the other order was there by then.
    expect([2, 3]).toContain(lists(handle.orderId));
    await decideNow(handle, 'close-absent');
    await expect(handle.result()).rejects.toMatchObject({ name: 'UnresolvedError', subject: 'order', closed: true });
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
    await expect(handle.result()).rejects.toMatchObject({
      name: 'FailedError',
      subject: 'order',
      type: 'OrderConflict',
    });
    expect(serviceView(lab, handle.orderId).creates).toBe(2);
  });
});
