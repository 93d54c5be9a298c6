import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createBackend } from '../../examples/backend-service.js';
import { PaymentOrders } from '../../src/client.js';
import { payout, useClient } from './client.fixture.js';
import { clientOn, type Line, openLine } from './line.fixture.js';

const fixture = useClient();

/** Runs a test on a line of its own, with a connection that has worked before: so it goes wrong for a backend. */
const onLine = (body: (line: Line, orders: PaymentOrders) => Promise<void>) => async () => {
  const line = await openLine(fixture.namespace.address);
  const client = await clientOn(line, fixture.namespace);
  try {
    await body(line, new PaymentOrders(client));
  } finally {
    // The connection stays: the SDK repeats unanswered calls, and on a closed one it throws where nobody can catch it.
    await line.cut();
  }
};

const timeoutMs = 1_500;

const notKnown = (orderId: string) => ({
  name: 'TemporalUnreachableError',
  message: expect.stringMatching(new RegExp(`not known whether order ${orderId} was started: send the same input`)),
});

const requireUnknown = (orderId: string) =>
  expect(fixture.orders.order(orderId).isOpen()).rejects.toMatchObject({ name: 'UnknownIdError', subject: 'order' });

describe.concurrent('when Temporal does not answer,', () => {
  it(
    // Takes as long as the backend gives an order; started first, it does not make the others wait.
    'the example backend asks for the same request again instead of accepting a payout that was never started',
    onLine(async (line, orders) => {
      line.mode = 'silent';
      const server = createBackend(orders).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const body = JSON.stringify({ orderId: 'backend-1', amount: '5', card: '4111111111111111' });
      const response = await fetch(`http://127.0.0.1:${port}/payouts`, { method: 'POST', body });
      server.close();
      expect(response.status).toBe(503);
      expect(await response.json()).toEqual({ retry: 'with the same orderId' });
      await requireUnknown('backend-1');
    }),
  );

  it(
    'create leaves it open where only the answer was lost, and the same input again finds the order',
    onLine(async (line, orders) => {
      line.mode = 'deaf';
      const input = payout('deaf-1');
      await expect(orders.create('withdraw', input, { timeoutMs })).rejects.toMatchObject(notKnown('deaf-1'));
      expect(await fixture.orders.order('deaf-1').isOpen()).toBe(true);
      expect((await fixture.orders.create('withdraw', input)).order.order_uuid).toBe('uuid-deaf-1');
    }),
  );

  it(
    'start leaves it open whether the order was started',
    onLine(async (line, orders) => {
      await line.cut();
      await expect(orders.start('withdraw', payout('cut-2'))).rejects.toMatchObject(notKnown('cut-2'));
    }),
  );

  it.each([
    ['created', (orders: PaymentOrders) => orders.order('nobody-knows').created({ timeoutMs })],
    ['final', (orders: PaymentOrders) => orders.order('nobody-knows').final({ timeoutMs })],
    ['result', (orders: PaymentOrders) => orders.order('nobody-knows').result({ timeoutMs })],
    ['a batch', (orders: PaymentOrders) => orders.batches.handle('nobody-knows').result({ timeoutMs })],
  ] as const)('a wait for %s does not say that it goes on', (_, wait) =>
    onLine(async (line, orders) => {
      line.mode = 'silent';
      await expect(wait(orders)).rejects.toMatchObject({ name: 'TemporalUnreachableError' });
    })(),
  );

  it(
    'a wait says that an order goes on whose start was accepted',
    onLine(async (line, orders) => {
      const started = await orders.start('withdraw', payout('known-1'));
      const named = orders.order('known-1');
      const notDecided = { name: 'NotDecidedYetError' };
      await expect(named.result({ timeoutMs })).rejects.toMatchObject(notDecided);
      line.mode = 'silent';
      await expect(started.result({ timeoutMs })).rejects.toMatchObject(notDecided);
      await expect(named.result({ timeoutMs })).rejects.toMatchObject(notDecided);
    }),
  );
});
