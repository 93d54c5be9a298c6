import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Witnesses } from '../../../src/activities/order/witnesses.js';
import type { Order } from '../../../src/contract/service-objects.js';

const order = (id: string) => ({ user_order_id: id, order_uuid: `uuid-of-${id}`, order_type: 'withdraw' }) as Order;

const OURS = { orderId: 'ours', type: 'withdraw' } as const;

test('an order that was accepted while the clock was ahead is no later one once the clock is right', async () => {
  const witnesses = new Witnesses();
  witnesses.noteAccepted(order('before'), Date.now() + 300);
  await sleep(100);
  const sentUntilMs = Date.now();
  await sleep(500);
  expect(witnesses.later(sentUntilMs, Date.now(), 200, OURS)).toEqual([]);
});

test('an order that was accepted before the clock was set forward is as old as the clock says', async () => {
  const witnesses = new Witnesses();
  const sentUntilMs = Date.now();
  await sleep(50);
  witnesses.noteAccepted(order('later'), Date.now());
  const hourMs = 3_600_000;
  expect(witnesses.later(sentUntilMs, Date.now() + hourMs, 100, OURS)).toMatchObject([{ order_id: 'later' }]);
});

test('a deposit is a later order for a deposit, and for a payout only if the setting says so', () => {
  const witnesses = new Witnesses();
  const sentUntilMs = Date.now() - 1_000;
  witnesses.noteAccepted({ ...order('deposited'), order_type: 'deposit' }, Date.now() - 500, performance.now() - 500);
  const later = (about: Parameters<Witnesses['later']>[3]) => witnesses.later(sentUntilMs, Date.now(), 100, about);
  expect(later(OURS)).toEqual([]);
  expect(later({ ...OURS, depositsCountFor: ['exchange'] })).toEqual([]);
  expect(later({ ...OURS, depositsCountFor: ['withdraw'] })).toMatchObject([{ order_id: 'deposited', proves: true }]);
  expect(later({ ...OURS, type: 'deposit_exchange' })).toMatchObject([{ order_id: 'deposited', proves: true }]);
});

test('creates of other orders fail until one is accepted, or for a time after the last one', async () => {
  const witnesses = new Witnesses();
  witnesses.noteUnclear('ours');
  expect(witnesses.othersFail('ours', 1_000)).toBe(false);
  witnesses.noteUnclear('other');
  expect(witnesses.othersFail('ours', 1_000)).toBe(true);
  await sleep(50);
  expect(witnesses.othersFail('ours', 20)).toBe(false);
  witnesses.noteAccepted(order('accepted'), Date.now());
  expect(witnesses.othersFail('ours', 1_000)).toBe(false);
});
