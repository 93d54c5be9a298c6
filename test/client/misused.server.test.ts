import { Client, Connection } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { PaymentOrders } from '../../src/client.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';

/* What plain JavaScript gets wrong, which the compiler would find. */

const lab = useLab({ workers: false, callbacks: false });
const ROWS = { startedBy: 'ann', rows: [{ ...orderInput('withdraw', 'a').order, order_id: 'a' }] };
const SAYS = { by: 'ann', reason: 'r' };

type Call = (orders: PaymentOrders, wrong: never) => unknown;
const CALLS: Record<string, Call> = {
  start: (orders, wrong) => orders.start('withdraw', orderInput('withdraw', newOrderId('misused')), wrong),
  create: (orders, wrong) => orders.create('withdraw', orderInput('withdraw', newOrderId('misused')), wrong),
  check: (orders, wrong) => orders.check('withdraw', orderInput('withdraw', newOrderId('misused')), wrong),
  order: (orders, wrong) => orders.order('a', wrong),
  received: (orders, wrong) => orders.received('a', wrong),
  list: (orders, wrong) => orders.list({}, wrong),
  ended: (orders, wrong) => orders.ended(wrong),
  isServed: (orders, wrong) => orders.isServed('default', wrong),
  rates: (orders, wrong) => orders.rates('default', {}, wrong),
  createAddress: (orders, wrong) =>
    orders.createAddress({ ref: 'r', address: { currency: 'usdt', network: 'tron' } }, wrong),
  reconcile: (orders, wrong) => orders.reconcile({}, wrong),
  decideAll: (orders, wrong) => orders.decideAll({ orders: [] } as never, wrong),
  state: (orders, wrong) => orders.order('a').state(wrong),
  result: (orders, wrong) => orders.order('a').result(wrong),
  created: (orders, wrong) => orders.order('a').created(wrong),
  hold: (orders, wrong) => orders.order('a').hold(SAYS, wrong),
  cancel: (orders, wrong) => orders.order('a').cancel(wrong),
  'accounts.stop': (orders, wrong) => orders.accounts.stop('default', SAYS, wrong),
  'accounts.state': (orders, wrong) => orders.accounts.state('default', wrong),
  'batches.plan': (orders, wrong) => orders.batches.plan(ROWS as never, wrong),
  'batches.start': (orders, wrong) => orders.batches.start(ROWS as never, wrong),
  'batches.handle': (orders, wrong) => orders.batches.handle('a', wrong),
  'schedules.trigger': (orders, wrong) => orders.schedules.trigger('p', { period: '2026-11' }, wrong),
  'batch.pause': (orders, wrong) => orders.batches.handle('a').pause(SAYS, wrong),
  'batch.report': (orders, wrong) => orders.batches.handle('a').report(wrong),
};

describe('a misspelt option', () => {
  test.for(Object.entries(CALLS))('of %s is refused by its name', async ([, call]) => {
    const refused = async () => call(lab.orders, { timeOutMs: 1_000, timeoutMs: undefined } as never);
    await expect(refused()).rejects.toMatchObject({
      name: 'InvalidInputError',
      fields: [{ field: 'timeOutMs', reason: expect.stringMatching(/unknown option|nrecognized|unknown/) }],
    });
  });

  test('starts nothing', async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect((await lab.temporal.client.workflow.count()).count).toBe(0);
  });
});

test('a call after close() says so', async () => {
  const { connection: base } = lab.temporal.client as unknown as { connection: Connection };
  const connection = await Connection.connect({ address: base.options.address });
  const client = new Client({ connection, namespace: lab.temporal.namespace });
  const orders = new PaymentOrders(client, () => connection.close());
  await orders.list();
  await orders.close();
  const closed = { name: 'TemporalUnreachableError', message: expect.stringContaining('was closed by `close()`') };
  await expect(orders.list()).rejects.toMatchObject(closed);
  await expect(orders.order('a').state()).rejects.toMatchObject(closed);
  await expect(orders.batches.plan(ROWS as never)).rejects.toMatchObject(closed);
  const input = orderInput('withdraw', newOrderId('closed'));
  await expect(orders.create('withdraw', input)).rejects.toMatchObject(closed);
});
