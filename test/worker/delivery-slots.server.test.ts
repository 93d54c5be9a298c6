import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { testReceiver } from '../../src/client/events.js';
import { startEventReceiver, status } from '../support/event-receiver.js';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';

const ORDERS = 60;

let lab: Lab;
let shop: Awaited<ReturnType<typeof startEventReceiver>>;
beforeAll(async () => {
  shop = await startEventReceiver('shop', status(503));
  lab = await openLab({ receivers: [{ ...shop.config, kinds: ['order.ended'] }] });
});
afterAll(async () => {
  await lab?.close();
  await shop?.close();
});

const posted = () => shop.received.filter(({ event }) => event.type !== 'test');

test('a receiver that takes nothing is tried by one event in 15 s, a person first, and gets all at once when it is back', async () => {
  const ids = Array.from({ length: ORDERS }, () => newOrderId('rest'));
  const handles = await Promise.all(ids.map((id) => lab.orders.start('withdraw', orderInput('withdraw', id))));
  await Promise.all(handles.map((handle) => handle.result()));
  await sleep(5_000);
  expect(posted().length).toBeGreaterThanOrEqual(10);
  expect(posted().length).toBeLessThan(ORDERS);
  expect(await testReceiver(lab.orders.client, 'shop')).toContain('HTTP 503');
  const refused = posted().length;
  shop.answer = status(204);
  await vi.waitFor(
    () =>
      expect(
        new Set(
          posted()
            .slice(refused)
            .map(({ event }) => event.data.order_id),
        ),
      ).toEqual(new Set(ids)),
    {
      timeout: 40_000,
      interval: 200,
    },
  );
});

test('one event that is always refused holds up no other', async () => {
  const bad = newOrderId('bad');
  shop.answer = (n, response, request) =>
    status(shop.received.at(n - 1)?.event.data.order_id === bad ? 503 : 204)(n, response, request);
  for (const id of [bad, ...Array.from({ length: 10 }, () => newOrderId('good'))]) {
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', id));
    await handle.result();
    if (id !== bad)
      await vi.waitFor(() => expect(posted().some(({ event }) => event.data.order_id === id)).toBe(true), {
        timeout: 3_000,
      });
  }
});
