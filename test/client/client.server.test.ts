import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createBackend } from '../../examples/backend-service.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';

const lab = useLab();

/** Requests about an order, but for a poll that was under way when a callback ended it. */
const heardOf = (orderId: string): number => lab.requestsOf(orderId).filter((path) => !path.endsWith('/status')).length;

const executed = (orderId: string): number => lab.sandbox.stats().executedByOrderId[orderId] ?? 0;

describe('create', () => {
  it('returns the deposit address in one call, and the result later', async () => {
    const orderId = newOrderId('client-create');
    const { handle, order } = await lab.orders.create('deposit', orderInput('deposit', orderId));
    expect(order.deposit_address ?? order.deposit_url).toEqual(expect.any(String));
    expect((await handle.final()).status).toBe('completed');
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    expect(await handle.state()).toMatchObject({ phase: 'done', status: 'completed' });
  });

  it('by many callers at once executes one order and is one update in the history', async () => {
    const orderId = newOrderId('client-crowd');
    const input = orderInput('withdraw', orderId);
    const created = await Promise.all(Array.from({ length: 20 }, () => lab.orders.create('withdraw', input)));
    expect(created.filter(({ handle }) => !handle.attached)).toHaveLength(1);
    expect(new Set(created.map(({ order }) => order.order_uuid)).size).toBe(1);
    await lab.orders.order(orderId).result();
    expect(executed(orderId)).toBe(1);
    expect(lab.requestsOf(orderId).filter((path) => path.endsWith('/withdraw'))).toHaveLength(1);
    const { events } = await lab.temporal.client.workflow.getHandle(`order:default:${orderId}`).fetchHistory();
    expect(events?.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes)).toHaveLength(1);
  });

  it('of an order that ended returns it as it was created, without asking the service again', async () => {
    const input = orderInput('exchange', newOrderId('client-closed'));
    const { handle, order } = await lab.orders.create('exchange', input);
    await handle.result();
    const requests = heardOf(handle.orderId);
    expect((await lab.orders.create('exchange', input)).order).toEqual(order);
    expect(heardOf(handle.orderId)).toBe(requests);
  });
});

describe('signed reads through a worker', () => {
  it('bring orders by status and list', async () => {
    const { handle, order } = await lab.orders.create('exchange', orderInput('exchange', newOrderId('client-read')));
    await handle.result();
    expect(await lab.orders.orderStatus({ order_uuid: order.order_uuid })).toMatchObject({
      user_order_id: handle.orderId,
    });
    expect(await lab.orders.orderList({ order_ids: [handle.orderId] })).toEqual([
      expect.objectContaining({ order_uuid: order.order_uuid, balance_changes: expect.any(Array) }),
    ]);
  });

  it.each([
    ['limit', { limit: 1001 }],
    ['limit', { limit: 0 }],
    ['page', { page: 1.5 }],
    ['date_from', { date_from: '2026-13-01 00:00:00' }],
    ['date_from', { date_from: '2026-02-01 00:00:00', date_to: '2026-01-01 00:00:00' }],
    ['order_ids', { order_ids: [] }],
  ])('refuse a bad %s and ask the service nothing', async (field, query) => {
    const requests = lab.sandbox.requests().filter(({ path }) => path.endsWith('/list')).length;
    await expect(lab.orders.orderList(query)).rejects.toMatchObject({
      name: 'InvalidInputError',
      fields: [{ field: expect.stringContaining(field), reason: expect.any(String) }],
    });
    expect(lab.sandbox.requests().filter(({ path }) => path.endsWith('/list'))).toHaveLength(requests);
  });

  it('refuse both or neither of order_id and order_uuid', async () => {
    await expect(lab.orders.orderStatus({} as { order_id: string })).rejects.toMatchObject({
      name: 'InvalidInputError',
    });
    const both = { order_id: 'a', order_uuid: 'b' };
    await expect(lab.orders.orderStatus(both)).rejects.toMatchObject({ name: 'InvalidInputError' });
  });
});

describe('a permanent address', () => {
  it('is created once per reference, which must be one and belong to no other address', async () => {
    const request = { ref: newOrderId('ref'), address: { currency: 'usdt', network: 'tron' } };
    const { address } = await lab.orders.createAddress(request);
    expect((await lab.orders.createAddress(request)).address.uuid).toBe(address.uuid);
    const other = { ...request, address: { ...request.address, network: 'ethereum' } };
    await expect(lab.orders.createAddress(other)).rejects.toThrow(/ref: belongs to/);
    await expect(lab.orders.createAddress({ ...request, ref: 'a b' })).rejects.toMatchObject({
      name: 'InvalidInputError',
    });
  });
});

describe('the example backend', () => {
  async function post(body: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
    const server = createBackend(lab.orders).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    return new Promise((resolve, reject) => {
      const sent = httpRequest({ port, host: '127.0.0.1', path: '/payouts', method: 'POST' }, async (response) => {
        const text = (await response.toArray()).join('');
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) });
      });
      sent.on('error', reject).end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  }

  it('answers with the created order, and with the same one when asked again', async () => {
    const payout = { orderId: newOrderId('backend'), amount: '20', card: '4111111111111111' };
    const first = await post(payout);
    expect(first).toMatchObject({ status: 201, body: { orderUuid: expect.any(String) } });
    expect((await post(payout)).body.orderUuid).toBe(first.body.orderUuid);
    expect(executed(payout.orderId)).toBe(1);
  });

  it('names bad fields, conflicts and bad JSON', async () => {
    const payout = { orderId: newOrderId('backend'), amount: '20', card: '4111111111111111' };
    await post(payout);
    expect(await post({ ...payout, amount: '21' })).toMatchObject({ status: 409, body: { fields: ['order.amount'] } });
    expect(await post({ ...payout, card: '4111111111111112' })).toMatchObject({ status: 422 });
    expect(await post('no')).toMatchObject({ status: 400 });
  });
});
