import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serviceOf } from '../../../scripts/service-of.js';
import type { ReconcileResult } from '../../../src/contract/reconcile/reconcile.js';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../../support/lab.js';
import { parkedFor } from '../../workflows/compensation/parked-orders.fixture.js';
import { newAddress, receive } from '../../workflows/receipts.fixture.js';

const OPEN = 'after_ms=600000';
const AT_ONCE = 'pay_ms=20 after_ms=20';

let lab: Lab;
beforeAll(async () => {
  // The service executes a second create of an id, and tells nobody of a receipt.
  lab = await openLab({ quiet: true, sandbox: { settings: { duplicateMode: 'c', callbacks: { enabled: false } } } });
});
afterAll(() => lab?.close());

/** A create that no program of ours knows about. Returns the service's id. */
async function createElsewhere(orderId: string, marker: string, changes: { amount?: string } = {}): Promise<string> {
  const service = await serviceOf(lab.sandbox);
  const { order } = orderInput('withdraw', orderId, { marker });
  return (await service.createOrder('withdraw', { ...order, ...changes })).order_uuid;
}

/** Classes of an order id's rows in the order of the uuids; what agrees has no row. */
const classesOf = ({ disagreements }: ReconcileResult, orderId: string, uuids: readonly string[]) =>
  uuids.map((uuid) => disagreements.find((row) => row.order_id === orderId && row.order_uuid === uuid)?.class);

/** The same where it does not matter which one is which: dates of creation have no parts of a second. */
const classesOfBoth = (result: ReconcileResult, orderId: string) =>
  result.disagreements.flatMap((row) => (row.order_id === orderId ? [row.class] : [])).sort();

describe('two orders of the service under one id', () => {
  test('are told when no workflow of ours was: the second one is a duplicate, and only one is followed', async () => {
    const orderId = newOrderId('twice');
    const uuids = [await createElsewhere(orderId, OPEN), await createElsewhere(orderId, OPEN)];
    const first = await lab.orders.reconcile();
    expect(classesOfBoth(first, orderId)).toEqual(['duplicate', 'foreign']);

    const recovered = await lab.orders.reconcile({ recover: true });
    expect(recovered.classes).toMatchObject({ recovered: 1, duplicate: 1, open: 0 });
    expect(classesOfBoth(recovered, orderId)).toEqual(['duplicate']);
    const { order_uuid: followed } = await lab.orders.order(orderId).created();
    expect(uuids).toContain(followed);
    expect(classesOf(recovered, orderId, [followed])).toEqual([undefined]);

    const again = await lab.orders.reconcile({ recover: true });
    expect(again.classes).toMatchObject({ recovered: 0, duplicate: 1, open: 1 });
    expect(classesOf(again, orderId, [followed])).toEqual([undefined]);
  });

  test('are told when our workflow was stopped', async () => {
    const orderId = newOrderId('stopped');
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker: OPEN }));
    await handle.created();
    await createElsewhere(orderId, OPEN);
    await lab.temporal.client.workflow.getHandle(handle.workflowId).terminate('by mistake');
    expect(classesOfBoth(await lab.orders.reconcile(), orderId)).toEqual(['duplicate', 'unresolved']);
    expect(classesOfBoth(await lab.orders.reconcile({ recover: true }), orderId)).toEqual(['duplicate']);
  });

  test('are told when our workflow ended without an order', async () => {
    const orderId = newOrderId('refused');
    const refused = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker: 'create=400' }));
    await expect(refused.result()).rejects.toMatchObject({ type: 'OrderRejected' });
    await createElsewhere(orderId, AT_ONCE);
    await createElsewhere(orderId, AT_ONCE);
    expect(classesOfBoth(await lab.orders.reconcile(), orderId)).toEqual(['duplicate', 'verdictDiffers']);
  });

  test('are told apart by the one that our workflow follows, not by which came first', async () => {
    const orderId = newOrderId('second-is-ours');
    const first = await createElsewhere(orderId, OPEN, { amount: '99' });
    const second = await createElsewhere(orderId, OPEN);
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker: OPEN }));
    const { revision } = await parkedFor(handle, 'several orders');
    await handle.decide({ action: 'adopt', by: 'ann', reason: 'ours', order_uuid: second, revision });
    await handle.created();
    expect(classesOf(await lab.orders.reconcile(), orderId, [first, second])).toEqual(['duplicate', undefined]);
  });
});

test('a receipt that shares its id with another order is no duplicate of it, and is followed', async () => {
  const receipt = receive(lab, await newAddress(lab), AT_ONCE);
  const elsewhere = await createElsewhere(receipt.orderId, OPEN);
  const result = await lab.orders.reconcile();
  expect(classesOf(result, receipt.orderId, [receipt.orderUuid, elsewhere])).toEqual([undefined, 'foreign']);
  expect(result.classes).toMatchObject({ receiptFollowed: 1 });
  expect(await receipt.handle.result()).toMatchObject({ outcome: 'completed' });

  // Also once its follower runs no more.
  const again = await lab.orders.reconcile();
  expect(classesOf(again, receipt.orderId, [receipt.orderUuid, elsewhere])).toEqual([undefined, 'foreign']);
});

test('an open order that our workflow ended in a conflict with is followed with --recover, and only then', async () => {
  const orderId = newOrderId('conflict');
  const uuid = await createElsewhere(orderId, 'after_ms=20000', { amount: '99' });
  const started = await lab.orders.start('withdraw', orderInput('withdraw', orderId));
  await expect(started.result()).rejects.toMatchObject({ type: 'OrderConflict' });
  expect(classesOf(await lab.orders.reconcile(), orderId, [uuid])).toEqual(['foreign']);

  expect(classesOf(await lab.orders.reconcile({ recover: true }), orderId, [uuid])).toEqual([undefined]);
  expect(await lab.orders.order(orderId).result()).toMatchObject({ outcome: 'completed', adopted: true });
  expect(classesOf(await lab.orders.reconcile(), orderId, [uuid])).toEqual([undefined]);
});
