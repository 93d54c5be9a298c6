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

test('a receiver that takes nothing is tried by one event a second, a person first, and gets all at once when it is back', async () => {
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

test('30 events that are always refused hold up no other', async () => {
  const isBad = (n: number) => shop.received.at(n - 1)?.event.data.order_id?.startsWith('bad') === true;
  shop.answer = (n, response, request) => status(isBad(n) ? 400 : 204)(n, response, request);
  const pay = async (label: string) => {
    const id = newOrderId(label);
    await (await lab.orders.start('withdraw', orderInput('withdraw', id))).result();
    return id;
  };
  const bad = await Promise.all(Array.from({ length: 30 }, () => pay('bad')));
  const isTried = (id: string) => posted().some(({ event }) => event.data.order_id === id);
  await vi.waitUntil(() => bad.every(isTried), { timeout: 60_000, interval: 100 });
  for (const label of ['good', 'better', 'best']) {
    const id = await pay(label);
    await vi.waitUntil(() => isTried(id), { timeout: 5_000, interval: 50 });
  }
});
