import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import { ORDERS_TASK_QUEUE } from '../../../src/contract/names.js';
import type { OrderInput } from '../../../src/contract/order/input-and-result.js';
import { workflowTypeOf } from '../../../src/contract/order/types.js';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../../support/lab.js';
import { serviceView } from './service-view.fixture.js';

/** Refused at once, and executed all the same: after the two readings 5 s apart that end the first run. */
const REFUSED_THEN_EXECUTED = 'create=400-later later_ms=12000 after_ms=500';
const WINDOW_MS = 14_000;

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({
    pace: { settleWindowMs: { atOnce: WINDOW_MS, deposit: WINDOW_MS } },
    sandbox: { settings: { duplicateMode: 'c' } },
  });
});
afterAll(() => lab?.close());

const refused = (handle: OrderHandle) => expect(handle.result()).rejects.toMatchObject({ type: 'OrderRejected' });

/** A first run that the service refused, and executes soon after its end. */
async function refusedRun(label: string): Promise<OrderInput<'withdraw'>> {
  const input = orderInput('withdraw', newOrderId(label), { marker: REFUSED_THEN_EXECUTED });
  await refused(await lab.orders.start('withdraw', input));
  return input;
}

const mended = (input: OrderInput<'withdraw'>): OrderInput<'withdraw'> => ({
  ...input,
  order: { ...input.order, amount: '13' },
});

const parked = (handle: OrderHandle) =>
  expect.poll(async () => (await handle.state()).phase, { timeout: 60_000 }).toBe('parked');

describe.concurrent('an order that is started again after it was refused, and executed late', () => {
  test('is found within the window, and not sent a second time', async () => {
    const input = await refusedRun('late');
    const handle = await lab.orders.start('withdraw', input, { again: true });
    const { outcome, adopted } = await handle.result();
    // What was refused is executed by now, whatever became of this.
    await sleep(3_000);
    expect({ outcome, adopted, ...serviceView(lab, handle.orderId) }).toMatchObject({
      ...{ outcome: 'completed', adopted: true },
      ...{ creates: 1, executed: 1 },
    });
  });

  test('with other fields: a person is asked about the one that was executed, and nothing is sent', async () => {
    const input = await refusedRun('mended');
    const handle = await lab.orders.start('withdraw', mended(input), { again: true });
    await parked(handle);
    expect(serviceView(lab, handle.orderId)).toMatchObject({ creates: 1, executed: 1 });
    const { attention } = await handle.state();
    expect(attention).toMatchObject({ reason: expect.stringContaining('amount'), allowed: ['adopt', 'close-absent'] });
    expect(attention?.reason).not.toMatch(/another order id|new id/);
  });

  test('and cancelled while it is looked for: is found all the same', async () => {
    const input = await refusedRun('cancelled');
    const handle = await lab.orders.start('withdraw', input, { again: true });
    await lab.temporal.client.workflow.getHandle(handle.workflowId).cancel();
    expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
    expect(serviceView(lab, handle.orderId)).toMatchObject({ creates: 1, executed: 1 });
  });

  test('as the row of a batch: is found, too', async () => {
    const { order } = await refusedRun('row');
    const rows = [order];
    const batch = await lab.orders.batches.start({ batchId: newOrderId('batch'), rows, startedBy: 'ann', again: true });
    expect((await batch.result()).outcomes).toMatchObject({ completed: 1 });
    expect(serviceView(lab, order.order_id)).toMatchObject({ creates: 1, executed: 1 });
  });
});

describe.concurrent('an order that is started again after it was refused, and not executed', () => {
  test('is sent once absence was read over the window since the refusal', async () => {
    const input = orderInput('withdraw', newOrderId('absent'), { marker: 'create=400' });
    await refused(await lab.orders.start('withdraw', input));
    const refusedAtMs = Date.now();
    const handle = await lab.orders.start('withdraw', mended(input), { again: true });
    expect((await handle.created()).expected_amount_from).toMatch(/^13(\.0+)?$/);
    expect(Date.now() - refusedAtMs).toBeGreaterThan(WINDOW_MS - 1_000);
    expect(serviceView(lab, handle.orderId)).toEqual({ creates: 2, executed: 1, blindCreates: 0 });
  });

  test('long ago: is sent after the probe', async () => {
    const input = orderInput('withdraw', newOrderId('old'), { marker: 'create=400' });
    await refused(await lab.orders.start('withdraw', input));
    await sleep(WINDOW_MS);
    const startedAtMs = Date.now();
    const handle = await lab.orders.start('withdraw', input, { again: true });
    await handle.created();
    expect(Date.now() - startedAtMs).toBeLessThan(WINDOW_MS / 2);
    expect(serviceView(lab, handle.orderId)).toEqual({ creates: 2, executed: 1, blindCreates: 0 });
  });

  test("with resend: 'never', which is about uncertain creates: is sent", async () => {
    const input = orderInput('withdraw', newOrderId('never'), { marker: 'create=400', resend: 'never' });
    await refused(await lab.orders.start('withdraw', input));
    const handle = await lab.orders.start('withdraw', input, { again: true });
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  });
});

describe.concurrent('the time of an earlier run, in an input from anywhere', () => {
  const startPlainly = (sentUntil: unknown) => {
    const input = orderInput('withdraw', newOrderId('plain'));
    return lab.temporal.client.workflow.start(workflowTypeOf('withdraw'), {
      workflowId: `order:default:${input.order.order_id}`,
      taskQueue: ORDERS_TASK_QUEUE,
      args: [{ ...input, sentUntil }],
    });
  };

  test.for(['yesterday', 7, '', '2026-11-22'])('%j is refused as InvalidOrder', async (sentUntil) => {
    const handle = await startPlainly(sentUntil);
    await expect(handle.result()).rejects.toMatchObject({
      cause: { type: 'InvalidOrder', message: expect.stringContaining('sentUntil') },
    });
  });

  test('in the future counts as the time of the start', async () => {
    const handle = await startPlainly('2999-01-01T00:00:00Z');
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  });
});
