import { beforeAll, describe, expect, test, vi } from 'vitest';
import { DUPLICATE_MODES } from '../../../sandbox/options.js';
import { serviceOf } from '../../../scripts/service-of.js';
import { ORDER_CALLBACK_SIGNAL } from '../../../src/contract/names.js';
import type { CreateRequests } from '../../../src/contract/order/request.js';
import type { Order } from '../../../src/contract/service-objects.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';
import { serviceView } from './service-view.fixture.js';

// The orders wait most of the time, and not for each other.
vi.setConfig({ maxConcurrency: 20 });

/** How long absence is read here. */
const WINDOW_MS = 3_000;
const PACE = { settleWindowMs: { atOnce: WINDOW_MS, deposit: WINDOW_MS } };

const lab = useLab({ pace: PACE });
/** Its look-ups show no order, for as long as a test wants. */
const lagging = useLab({ pace: PACE, callbacks: false, sandbox: { settings: { visibilityLagMs: 3_600_000 } } });

/** A create of somebody else, past our workflows. */
async function createElsewhere(request: CreateRequests['withdraw']): Promise<Order> {
  const service = await serviceOf(lab.sandbox);
  return service.createOrder('withdraw', request);
}

describe.concurrent('an order that was executed, though its create was answered with 500', () => {
  test.for(DUPLICATE_MODES)('is sent once where look-ups lag less than the settle window (mode %s)', async (mode) => {
    const orderId = newOrderId('seen');
    const marker = `create=500 lag_ms=${WINDOW_MS / 2} duplicate=${mode}`;
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker }));
    expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
    expect(serviceView(lab, orderId)).toEqual({ creates: 1, executed: 1, blindCreates: 0 });
  });
});

describe('an order that was executed, answered with 500, and not shown for longer than the settle window', () => {
  const MODES = [
    { mode: 'a', answer: '400', adopted: true },
    { mode: 'b', answer: '200 with the same order', adopted: false },
    { mode: 'd', answer: '409', adopted: true },
    { mode: 'e', answer: '500', adopted: true },
  ].map((each) => ({ ...each, orderId: newOrderId('duplicate') }));
  const never = newOrderId('never');

  beforeAll(async () => {
    const start = (orderId: string, marker: string, resend: 'once' | 'never') =>
      lagging.orders.start('withdraw', orderInput('withdraw', orderId, { marker: `create=500 ${marker}`, resend }));
    await Promise.all(MODES.map(({ mode, orderId }) => start(orderId, `duplicate=${mode}`, 'once')));
    const parking = await start(never, 'duplicate=c callback=drop', 'never');
    // Every re-send has met its duplicate answer before the orders are shown.
    const resent = () =>
      expect(MODES.map(({ orderId }) => serviceView(lagging, orderId).creates)).toEqual([2, 2, 2, 2]);
    await vi.waitFor(resent, 60_000);
    await vi.waitFor(async () => expect(await parking.state()).toMatchObject({ phase: 'parked' }), 60_000);
    lagging.sandbox.set({ visibilityLagMs: 0 });
  });

  test.for(MODES)('is executed once when the re-send is answered with $answer', async ({ orderId, adopted }) => {
    const result = await lagging.orders.order(orderId).result();
    expect(result).toMatchObject({ outcome: 'completed', adopted });
    expect(serviceView(lagging, orderId)).toEqual({ creates: 2, executed: 1, blindCreates: 0 });
  });

  test("with resend 'never' waits for the late callback, even where the service knows no duplicates", async () => {
    const handle = lagging.orders.order(never);
    await lagging.temporal.client.workflow.getHandle(handle.workflowId).signal(ORDER_CALLBACK_SIGNAL);
    expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
    expect(serviceView(lagging, never)).toEqual({ creates: 1, executed: 1, blindCreates: 0 });
  });
});

describe.concurrent('an id that somebody else used before', () => {
  test.for(DUPLICATE_MODES)('for the same order: it is adopted and nothing is sent (mode %s)', async (mode) => {
    const input = orderInput('withdraw', newOrderId('theirs'), { marker: `duplicate=${mode}` });
    const existing = await createElsewhere(input.order);
    const result = await (await lab.orders.start('withdraw', input)).result();
    expect(result).toMatchObject({ adopted: true, order: { order_uuid: existing.order_uuid } });
    expect(serviceView(lab, input.order.order_id)).toMatchObject({ creates: 1, executed: 1 });
  });

  test('for another order that the probe could not see: the 200 with that order is not adopted, a person is asked', async () => {
    const input = orderInput('withdraw', newOrderId('hidden'), { marker: 'duplicate=b list=unseen' });
    const foreign = await createElsewhere({ ...input.order, amount: '99' });
    const handle = await lab.orders.start('withdraw', input);
    await vi.waitFor(async () => expect(await handle.state()).toMatchObject({ phase: 'parked' }), 60_000);
    const { attention, order } = await handle.state();
    expect(attention).toMatchObject({ allowed: ['adopt', 'close-absent'], reason: expect.stringContaining('amount') });
    expect(attention?.reason).toContain(foreign.order_uuid);
    expect(order).toBeNull();
    expect(serviceView(lab, input.order.order_id)).toMatchObject({ creates: 2, executed: 1 });
  });
});
