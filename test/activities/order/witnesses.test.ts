import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Witnesses } from '../../../src/activities/order/witnesses.js';
import type { Order } from '../../../src/contract/service-objects.js';

const order = (id: string) => ({ user_order_id: id, order_uuid: `uuid-of-${id}` }) as Order;

test('an order that was accepted while the clock was ahead is no later one once the clock is right', async () => {
  const witnesses = new Witnesses();
  witnesses.noteAccepted(order('before'), Date.now() + 300);
  await sleep(100);
  const sentUntilMs = Date.now();
  await sleep(500);
  expect(witnesses.later(sentUntilMs, Date.now(), 200, 'ours')).toEqual([]);
});

test('an order that was accepted before the clock was set forward is as old as the clock says', async () => {
  const witnesses = new Witnesses();
  const sentUntilMs = Date.now();
  await sleep(50);
  witnesses.noteAccepted(order('later'), Date.now());
  const hourMs = 3_600_000;
  expect(witnesses.later(sentUntilMs, Date.now() + hourMs, 100, 'ours')).toMatchObject([{ order_id: 'later' }]);
});
