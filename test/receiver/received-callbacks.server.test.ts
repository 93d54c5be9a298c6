import { describe, expect, test, vi } from 'vitest';
import { startReceived } from '../../src/client/start-options.js';
import { searchAttribute } from '../../src/contract/names.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, openLab } from '../support/lab.js';
import { newAddress, postCallback, receive, started, useAddresses } from '../workflows/receipts.fixture.js';

// The followers wait most of the time, and not for each other.
vi.setConfig({ maxConcurrency: 10 });

const STATUS = '/v2/order/status';

const lab = useAddresses();

/** Events of a follower's history. */
async function eventsOf(workflowId: string): Promise<number> {
  return (await lab.temporal.client.workflow.getHandle(workflowId).fetchHistory()).events?.length ?? 0;
}

describe.concurrent('callbacks again', () => {
  test('five copies at once have the effect of one', async () => {
    const { orderId, handle } = receive(lab, lab.plain, 'after_ms=300 callback_copies=5');
    expect(await (await started(handle)).result()).toMatchObject({ outcome: 'completed' });
    // However many signals they became: the look-up after the first one answers them all.
    expect(lab.requestsOf(orderId)).toEqual([STATUS]);
  });

  test('after its end change nothing', async () => {
    // An address of its own: each callback counts as one of the ten starts that an address may have at once.
    const { orderUuid, handle } = receive(lab, await newAddress(lab));
    await (await started(handle)).result();
    const events = await eventsOf(handle.workflowId);
    for (let n = 0; n < 3; n += 1)
      await vi.waitFor(async () => expect(await lab.sandbox.sendCallback(orderUuid)).toBe(200), 20_000);
    expect(await eventsOf(handle.workflowId)).toBe(events);
  });

  test('years later, when Temporal has forgotten it, lead to the same end and move no money', async ({
    onTestFinished,
  }) => {
    const { orderUuid, handle } = receive(lab, lab.exchanging, 'outcome=completed_partially fraction=0.4');
    const first = await (await started(handle)).result();
    // Another Temporal, which knows nothing, in front of the same service.
    const later = await openLab({ serviceUrl: async () => lab.sandbox.url });
    onTestFinished(() => later.close());
    expect(await postCallback(later, lab.exchanging, { order_uuid: orderUuid, status: 'completed_partially' })).toBe(
      200,
    );
    expect(await later.orders.received(orderUuid).result()).toEqual(first);
    expect(lab.sandbox.orders().filter(({ order }) => order.order_type === 'exchange')).toEqual([]);
  });
});

describe.concurrent('a callback that names', () => {
  test('an order that does not exist ends as OrderAbsent after a settle window', async () => {
    const uuid = newOrderId('forged');
    expect(await postCallback(lab, lab.plain, { order_uuid: uuid, status: 'completed' })).toBe(200);
    const handle = lab.orders.received(uuid);
    const startedAtMs = Date.now();
    await expect(handle.result()).rejects.toMatchObject({
      name: 'FailedError',
      subject: 'received',
      type: 'OrderAbsent',
      message: expect.stringContaining('reconcile follows it'),
    });
    expect(Date.now() - startedAtMs).toBeLessThan(20_000);
    const { typedSearchAttributes: attributes } = await lab.temporal.client.workflow
      .getHandle(handle.workflowId)
      .describe();
    expect(attributes.get(searchAttribute.orderStatus)).toBe('none');
  });

  test('a receipt on another address ends as OrderConflict, without showing an address', async () => {
    const { orderUuid, handle } = receive(lab, lab.plain, 'callback=drop');
    expect(await postCallback(lab, lab.exchanging, { order_uuid: orderUuid })).toBe(200);
    const failure = await handle.result().catch((error: unknown) => error);
    expect(failure).toMatchObject({ type: 'OrderConflict', message: expect.stringContaining(lab.exchanging.ref) });
    expect(String(failure)).not.toContain(lab.plain.address);
    await expect(handle.created()).rejects.toMatchObject({ type: 'OrderConflict' });
    // Reconciliation may start it again, with the reference of its own address.
    const input = { ref: lab.plain.ref, order_uuid: orderUuid };
    expect(await startReceived(lab.temporal.client, input)).toBe(false);
    expect(await startReceived(lab.temporal.client, input, { again: true })).toBe(true);
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  });

  test('a payout of ours ends as OrderConflict', async () => {
    const payout = await lab.orders.create('withdraw', orderInput('withdraw', newOrderId('own')));
    expect(await postCallback(lab, lab.plain, { order_uuid: payout.order.order_uuid })).toBe(200);
    const handle = lab.orders.received(payout.order.order_uuid);
    await expect(handle.result()).rejects.toMatchObject({ type: 'OrderConflict' });
    expect(await payout.handle.result()).toMatchObject({ outcome: 'completed', adopted: false });
  });

  test('no order is refused with 400', async () => {
    expect(await postCallback(lab, lab.plain, { order_uuid: '../x' })).toBe(400);
    expect(await postCallback(lab, lab.plain, {})).toBe(400);
  });
});
