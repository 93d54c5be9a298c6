import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../../support/lab.js';
import { newAddress, receive } from '../../workflows/receipts.fixture.js';
import { notOnce, openOrders, startAgain } from './lost-orders.fixture.js';

/** Where the orders were started: its Temporal is lost. */
let lost: Lab;
/** A new Temporal in front of the same service, which executes a second create of an id if it gets one. */
let lab: Lab;
beforeAll(async () => {
  lost = await openLab({ quiet: true, sandbox: { settings: { duplicateMode: 'c' } } });
  lab = await openLab({ quiet: true, workers: false, callbacks: false, serviceUrl: async () => lost.sandbox.url });
  // The key is not lost: by it a receipt's address is shown to be ours.
  await lab.startWorkers({ callback: lost.config.callback });
});
afterAll(async () => {
  await lab?.close();
  await lost?.close();
});

describe('after the Temporal database was lost in the middle of open orders', () => {
  // 200 orders and a database file that is really deleted: test/reliability/reconcile-recover.test.ts.
  test('--recover follows them all to their end, and old ids started again send nothing', async () => {
    const ended = await lost.orders.start('withdraw', orderInput('withdraw', newOrderId('ended')));
    await ended.result();
    const orders = await openOrders(lost, 12, 15_000);
    const receipt = receive(lost, await newAddress(lost), 'after_ms=15000');
    await lost.stopWorkers();

    const result = await lab.orders.reconcile({ recover: true });
    expect(result.classes).toMatchObject({ recovered: 12, receiptFollowed: 1, foreign: 1 });
    expect(result.notes).toContainEqual(expect.stringContaining('documented open statuses (new, processing)'));
    expect(result.disagreements).toMatchObject([{ class: 'foreign', order_id: ended.orderId, status: 'completed' }]);

    const handles = await startAgain(lab, orders);
    expect(handles.map(({ attached }) => attached)).toEqual(orders.map(() => true));
    const results = await Promise.all(handles.map((handle) => handle.result()));
    expect(results).toMatchObject(orders.map(() => ({ outcome: 'completed', adopted: true })));
    expect(await lab.orders.received(receipt.orderUuid).result()).toMatchObject({ outcome: 'completed' });

    // What had ended is reported only; its id adopts by the probe.
    const input = orderInput('withdraw', ended.orderId);
    const adopted = await lab.orders.start('withdraw', input);
    expect(await adopted.result()).toMatchObject({ outcome: 'completed', adopted: true });
    const all = [...orders, { type: 'withdraw', orderId: ended.orderId, input } as const];
    expect(notOnce(lost, all)).toEqual([]);

    const again = await lab.orders.reconcile({ recover: true });
    expect(again.classes).toMatchObject({ equal: 14, recovered: 0, foreign: 0 });
  });

  test('an order whose workflow was terminated is followed again, too', async () => {
    const [order] = await openOrders(lab, 1, 4_000);
    if (!order) throw new Error('no order');
    const { workflowId } = lab.orders.order(order.orderId);
    await lab.temporal.client.workflow.getHandle(workflowId).terminate('by mistake');
    expect((await lab.orders.reconcile()).classes).toMatchObject({ unresolved: 1, recovered: 0 });
    expect((await lab.orders.reconcile({ recover: true })).classes).toMatchObject({ unresolved: 0, recovered: 1 });
    expect(await lab.orders.order(order.orderId).result()).toMatchObject({ outcome: 'completed', adopted: true });
    expect(notOnce(lost, [order])).toEqual([]);
  });
});
