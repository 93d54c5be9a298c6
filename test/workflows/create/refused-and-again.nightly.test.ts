import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import { PaymentOrders } from '../../../src/client.js';
import { ORDERS_TASK_QUEUE } from '../../../src/contract/names.js';
import type { OrderInput } from '../../../src/contract/order/input-and-result.js';
import { workflowTypeOf } from '../../../src/contract/order/types.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';
import { serviceView } from './service-view.fixture.js';

/** Refused at once, and executed all the same: after the window that ends the first run. */
const REFUSED_THEN_EXECUTED = 'create=400-later later_ms=20000 after_ms=500';
const WINDOW_MS = 14_000;

const lab = useLab({
  pace: { settleWindowMs: { atOnce: WINDOW_MS, deposit: WINDOW_MS } },
  sandbox: { settings: { duplicateMode: 'c' } },
});

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

  test("with resend: 'never', which is about uncertain creates: is sent", async () => {
    const input = orderInput('withdraw', newOrderId('never'), { marker: 'create=400', resend: 'never' });
    await refused(await lab.orders.start('withdraw', input));
    const handle = await lab.orders.start('withdraw', input, { again: true });
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  });
});

/** Promise that is resolved from outside. */
function deferred() {
  let resolve = (): void => {};
  const promise = new Promise<void>((resolved) => {
    resolve = resolved;
  });
  return { promise, resolve: () => resolve() };
}

/** Where a start waits: `reached` when it gets there, `opened` when it may leave. */
interface Gate {
  reached: ReturnType<typeof deferred>;
  opened: ReturnType<typeof deferred>;
}

describe.concurrent('an order that two start again at once, the second with what it read before the first', () => {
  /** A client whose start leaves late: when the gate opens. */
  function slowOrders({ reached, opened }: Gate): PaymentOrders {
    const client = new Client({
      connection: lab.temporal.client.connection,
      namespace: lab.temporal.namespace,
      interceptors: {
        workflow: [
          {
            start: async (input, next) => {
              reached.resolve();
              await opened.promise;
              return next(input);
            },
          },
        ],
      },
    });
    return new PaymentOrders(client);
  }

  /** A run that ended before it sent anything, so that the next one is told of nothing to look for. */
  async function unsentRun(label: string): Promise<OrderInput<'withdraw'>> {
    const input = orderInput('withdraw', newOrderId(label), { marker: REFUSED_THEN_EXECUTED });
    const handle = await lab.temporal.client.workflow.start(workflowTypeOf('withdraw'), {
      workflowId: `order:default:${input.order.order_id}`,
      taskQueue: ORDERS_TASK_QUEUE,
      args: [{ ...input, order: { ...input.order, amount: 'none' } }],
    });
    await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'InvalidOrder' } });
    return input;
  }

  test('is sent once: the second finds the run that the first one started', async () => {
    const input = await unsentRun('both');
    const gate: Gate = { reached: deferred(), opened: deferred() };
    const second = slowOrders(gate).start('withdraw', input, { again: true });
    await gate.reached.promise;
    const first = await lab.orders.start('withdraw', input, { again: true });
    await refused(first);
    gate.opened.resolve();
    await refused(await second);
    await sleep(8_000);
    expect(serviceView(lab, first.orderId)).toMatchObject({ creates: 1, executed: 1 });
  });

  test('with other fields: the second is told that they differ', async () => {
    const input = await unsentRun('differ');
    const gate: Gate = { reached: deferred(), opened: deferred() };
    const second = slowOrders(gate).start('withdraw', mended(input), { again: true });
    await gate.reached.promise;
    await refused(await lab.orders.start('withdraw', input, { again: true }));
    gate.opened.resolve();
    await expect(second).rejects.toMatchObject({ name: 'ConflictError', fields: ['order.amount'] });
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
