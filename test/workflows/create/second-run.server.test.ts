import { describe, expect, test, vi } from 'vitest';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import { ORDERS_TASK_QUEUE } from '../../../src/contract/names.js';
import type { OrderInput } from '../../../src/contract/order/input-and-result.js';
import { ORDER_TYPES, type OrderType, workflowTypeOf } from '../../../src/contract/order/types.js';
import { type Run, resetTo, resettableEvents, resultOf, runOf } from '../../reliability/reset.fixture.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';
import { serviceView } from './service-view.fixture.js';

// The orders wait most of the time, and not for each other.
vi.setConfig({ maxConcurrency: 20 });

const lab = useLab();

const client = () => lab.temporal.client;

/** Starts a workflow as the Temporal UI or the plain command line would: no search attributes, no summary. */
function startPlainly(type: OrderType, input: OrderInput, workflowIdReusePolicy?: 'ALLOW_DUPLICATE') {
  return client().workflow.start(workflowTypeOf(type), {
    workflowId: `order:default:${input.order.order_id}`,
    taskQueue: ORDERS_TASK_QUEUE,
    args: [input],
    ...(workflowIdReusePolicy && { workflowIdReusePolicy }),
  });
}

/** Resets an order's workflow to the end of its first workflow task. */
async function resetToStart(handle: OrderHandle): Promise<Run> {
  const run = await runOf(lab, handle);
  return resetTo(lab, run, (await resettableEvents(lab, run))[0] ?? '');
}

describe.concurrent('an order that has ended', () => {
  test.for(ORDER_TYPES)('%s: run once more under its id, it is adopted and not executed again', async (type) => {
    const input = orderInput(type, newOrderId('second-run'), { marker: 'duplicate=c' });
    const first = await (await lab.orders.start(type, input)).result();
    const second = await (await startPlainly(type, input, 'ALLOW_DUPLICATE')).result();
    expect(second).toMatchObject({ outcome: 'completed', adopted: true, order: first.order });
    expect(serviceView(lab, input.order.order_id)).toEqual({ creates: 1, executed: 1, blindCreates: 0 });
  });

  test.for(ORDER_TYPES)('%s: reset to its first workflow task, it is adopted and not executed again', async (type) => {
    const input = orderInput(type, newOrderId('reset'), { marker: 'duplicate=c' });
    const handle = await lab.orders.start(type, input);
    const first = await handle.result();
    const second = await resultOf(lab, await resetToStart(handle));
    expect(second).toMatchObject({ outcome: 'completed', adopted: true, order: first.order });
    expect(serviceView(lab, handle.orderId)).toEqual({ creates: 1, executed: 1, blindCreates: 0 });
  });
});

describe.concurrent('search attributes', () => {
  /** Visibility is a moment late. */
  const found = (query: string, orderId: string) =>
    vi.waitFor(
      async () => {
        const ids: string[] = [];
        for await (const { workflowId } of client().workflow.list({ query })) ids.push(workflowId);
        expect(ids).toEqual([`order:default:${orderId}`]);
      },
      { timeout: 60_000, interval: 250 },
    );

  test('of an order that parks and is closed: parked with attention, then none without', async () => {
    const batchId = newOrderId('parks');
    const options = { marker: 'create=500-before', resend: 'never', batchId } as const;
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', batchId, options));
    const mine = `PaymentBatchId = '${batchId}'`;
    await found(`${mine} AND PaymentOrderStatus = 'parked' AND PaymentNeedsAttention = true`, batchId);
    const { revision } = await handle.state();
    await handle.decide({ action: 'close-absent', by: 'ann', reason: 'not wanted any more', revision });
    await expect(handle.result()).rejects.toMatchObject({ type: 'OrderAbsent' });
    await found(`${mine} AND PaymentOrderStatus = 'none' AND PaymentNeedsAttention = false`, batchId);
  });
});
