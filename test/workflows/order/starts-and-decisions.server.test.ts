import { describe, expect, test, vi } from 'vitest';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import type { OrderInput } from '../../../src/contract/order/input-and-result.js';
import type { Decision } from '../../../src/contract/order/messages.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, openLab, useLab } from '../../support/lab.js';
import { serviceView } from '../create/service-view.fixture.js';

// The orders wait most of the time, and not for each other.
vi.setConfig({ maxConcurrency: 20 });

const lab = useLab();

type Options = Omit<Partial<OrderInput<'withdraw'>>, 'order'>;

const start = (orderId: string, marker?: string, options: Options = {}): Promise<OrderHandle> =>
  lab.orders.start('withdraw', orderInput('withdraw', orderId, { ...(marker && { marker }), ...options }));

const workflowOf = (handle: OrderHandle, on = lab) => on.temporal.client.workflow.getHandle(handle.workflowId);

describe.concurrent('a caller', () => {
  test('gets the created order, the final order and the result, in this order', async () => {
    const input = orderInput('deposit', newOrderId('steps'), { marker: 'pay_ms=500 after_ms=500' });
    const handle = await lab.orders.start('deposit', input);
    const created = await handle.created();
    expect(created).toMatchObject({
      status: 'new',
      user_order_id: handle.orderId,
      deposit_address: expect.any(String),
    });
    const final = await handle.final();
    expect(final).toMatchObject({ status: 'completed', order_uuid: created.order_uuid });
    expect(await handle.result()).toMatchObject({ outcome: 'completed', order: final });
    // They also answer after the end.
    expect(await handle.created()).toMatchObject({ order_uuid: created.order_uuid });
    expect(await handle.final()).toEqual(final);
  });

  test('who waits for the created order of a refused one learns why there is none', async () => {
    const input = orderInput('deposit', newOrderId('refused'), { marker: 'create=400' });
    await expect(lab.orders.create('deposit', input)).rejects.toMatchObject({ type: 'OrderRejected' });
  });

  test('is refused another input under the same id, by the names of its fields, and nothing is sent', async () => {
    const orderId = newOrderId('conflict');
    const handle = await start(orderId);
    await handle.result();
    // Nobody asked for it while it was open.
    expect(await handle.created()).toMatchObject({ status: 'completed' });
    // Look-ups that were under way when the order ended may still come.
    const requests = () => lab.requestsOf(orderId).filter((path) => !/\/(status|list)$/.test(path));
    const before = requests();
    const input = orderInput('withdraw', orderId, { compensation: 'ask' });
    const other = { ...input, order: { ...input.order, amount: '13', wallet: '5555555555554444' } };
    const refused = {
      name: 'ConflictError',
      subject: 'order',
      fields: ['order.wallet', 'order.amount', 'compensation'],
    };
    const conflict = await lab.orders.start('withdraw', other).catch((error: unknown) => error);
    expect(conflict).toMatchObject(refused);
    expect(String(conflict)).not.toContain('4444');
    await expect(lab.orders.create('withdraw', other)).rejects.toMatchObject(refused);
    const otherType = orderInput('exchange', orderId);
    await expect(lab.orders.start('exchange', otherType)).rejects.toMatchObject({
      fields: expect.arrayContaining(['order_type']),
    });
    expect(requests()).toEqual(before);
  });
});

/** A parked order: its create was answered with 500 and may not be sent again without a decision. */
async function park(label: string, marker: string): Promise<OrderHandle> {
  const handle = await start(newOrderId(label), marker, { resend: 'never' });
  await vi.waitFor(async () => expect(await handle.state()).toMatchObject({ phase: 'parked' }), 60_000);
  return handle;
}

async function decide(handle: OrderHandle, decision: Pick<Decision, 'action' | 'order_uuid'>): Promise<void> {
  const { revision } = await handle.state();
  await handle.decide({ by: 'ann', reason: 'looked it up', revision, ...decision });
}

const uuidAtService = (orderId: string): string =>
  lab.sandbox.orders().find(({ order }) => order.user_order_id === orderId)?.order.order_uuid ?? '';

describe.concurrent("a parked order (resend 'never', absent after an unclear create)", () => {
  const NOT_EXECUTED = 'create=500-before';
  /** Executed, and shown by neither operation until each was asked eight times: more often than before parking. */
  const HIDDEN = 'create=500 list=unseen list_times=8 status=unseen status_times=8 callback=drop';

  test('is not closed as absent when it turns out to exist', async () => {
    const handle = await park('exists', HIDDEN);
    const visible = async () => expect(await lab.orders.orderList({ order_ids: [handle.orderId] })).toHaveLength(1);
    await vi.waitFor(visible, { timeout: 60_000, interval: 100 });
    await decide(handle, { action: 'close-absent' });
    expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
    expect(serviceView(lab, handle.orderId)).toMatchObject({ creates: 1, executed: 1 });
  });

  test('follows the order that a person names, and no other payment', async () => {
    const handle = await park('adopt', HIDDEN);
    const other = await (await start(newOrderId('other'))).result();
    await decide(handle, { action: 'adopt', order_uuid: other.order.order_uuid });
    const attention = {
      allowed: ['resend', 'close-absent', 'adopt'],
      reason: expect.stringContaining('is another payment'),
    };
    await vi.waitFor(async () => expect(await handle.state()).toMatchObject({ phase: 'parked', attention }), 60_000);
    await vi.waitFor(() => lab.orders.orderStatus({ order_id: handle.orderId }), { timeout: 60_000, interval: 100 });
    await decide(handle, { action: 'adopt', order_uuid: uuidAtService(handle.orderId) });
    expect(await handle.result()).toMatchObject({
      outcome: 'completed',
      adopted: true,
      decisions: [{ action: 'adopt' }, { action: 'adopt' }],
    });
    expect(serviceView(lab, handle.orderId)).toMatchObject({ creates: 1, executed: 1 });
  });

  test('refuses decisions that do not fit, says why, and changes nothing', async () => {
    const handle = await park('refuses', NOT_EXECUTED);
    const before = await handle.state();
    const good: Decision = { action: 'close-absent', by: 'ann', reason: 'gone', revision: before.revision };
    const refused: [string, object][] = [
      ['stale', { ...good, revision: good.revision - 1 }],
      ['not allowed', { ...good, action: 'delete' }],
      ['not allowed', { ...good, action: 'accept' }],
      ['by:', { ...good, by: ' ' }],
      ['reason:', { ...good, reason: undefined }],
      ['order_uuid', { ...good, action: 'adopt' }],
      ['force', { ...good, force: true }],
    ];
    for (const [why, decision] of refused) {
      const error = await handle.decide(decision as Decision).then(String, (reason: unknown) => reason);
      expect(error).toMatchObject({
        name: 'RefusedError',
        subject: 'order',
        request: 'decision',
        message: expect.stringContaining(why),
      });
    }
    expect(await handle.state()).toEqual(before);
    await handle.decide(good);
    await expect(handle.result()).rejects.toMatchObject({ type: 'OrderAbsent' });
    await expect(handle.decide(good)).rejects.toMatchObject({
      name: 'RefusedError',
      subject: 'order',
      request: 'decision',
    });
  });
});

describe.concurrent('cancelling', () => {
  test('before the send: nothing is sent, the order ends as OrderCancelled and may be started again', async () => {
    const idle = await openLab({ workers: false });
    try {
      const input = orderInput('withdraw', newOrderId('before'));
      const handle = await idle.orders.start('withdraw', input);
      await workflowOf(handle, idle).cancel();
      await idle.startWorkers();
      await expect(handle.result()).rejects.toMatchObject({
        name: 'FailedError',
        subject: 'order',
        type: 'OrderCancelled',
      });
      // It is looked for once: the server's word alone ends nothing.
      expect(serviceView(idle, handle.orderId)).toMatchObject({ creates: 0 });
      const again = await idle.orders.start('withdraw', input, { again: true });
      expect(await again.result()).toMatchObject({ outcome: 'completed', adopted: false });
      expect(serviceView(idle, handle.orderId)).toEqual({ creates: 1, executed: 1, blindCreates: 0 });
    } finally {
      await idle.close();
    }
  });

  test('after the send: the order is followed to its end', async () => {
    const handle = await start(newOrderId('after'), 'after_ms=1500');
    await handle.created();
    await workflowOf(handle).cancel();
    expect(await handle.result()).toMatchObject({ outcome: 'completed', order: { status: 'completed' } });
  });

  test('while the create is unclear: it is not sent again, a person decides', async () => {
    const handle = await start(newOrderId('unclear'), 'create=500-before');
    await vi.waitFor(async () => expect(await handle.state()).toMatchObject({ phase: 'uncertain' }), 60_000);
    await workflowOf(handle).cancel();
    await vi.waitFor(async () => expect(await handle.state()).toMatchObject({ phase: 'parked' }), 60_000);
    expect(serviceView(lab, handle.orderId)).toEqual({ creates: 1, executed: 0, blindCreates: 0 });
    await decide(handle, { action: 'close-absent' });
    await expect(handle.result()).rejects.toMatchObject({ type: 'OrderAbsent' });
  });
});
