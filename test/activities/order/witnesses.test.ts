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
  const fail = (withinMs = 1_000) => witnesses.othersFail('ours', 'withdraw', withinMs);
  witnesses.noteUnclear('ours', { type: 'withdraw' });
  expect(fail()).toBe(false);
  witnesses.noteUnclear('other', { type: 'withdraw' });
  expect(fail()).toBe(true);
  await sleep(50);
  expect(fail(20)).toBe(false);
  witnesses.noteAccepted(order('accepted'), Date.now());
  expect(fail()).toBe(false);
});

test('deposits that fail or are accepted say nothing of payouts, and a canary is no sign of an outage', () => {
  const witnesses = new Witnesses();
  const failing = () => (['deposit', 'withdraw'] as const).filter((type) => witnesses.othersFail('ours', type, 1_000));
  witnesses.noteUnclear('canary', { type: 'deposit', input: { reference: 'canary' } });
  expect(failing()).toEqual([]);
  witnesses.noteUnclear('deposit', { type: 'deposit', input: { reference: 'invoice 7' } });
  expect(failing()).toEqual(['deposit']);
  witnesses.noteUnclear('payout', { type: 'exchange_withdraw' });
  expect(failing()).toEqual(['deposit', 'withdraw']);
  witnesses.noteAccepted({ ...order('paid in'), order_type: 'deposit' }, Date.now());
  expect(failing()).toEqual(['deposit', 'withdraw']);
  witnesses.noteAcceptedElsewhere(order('paid out'), Date.now() + 1);
  expect(failing()).toEqual([]);
});

test('a deposit, which may expire, is pinned only if nothing else is known, and has to be shown to deposits only', () => {
  const witnesses = new Witnesses();
  const deposit = { ...order('deposited'), order_type: 'deposit' };
  witnesses.noteAccepted(deposit, 20_000);
  expect(witnesses.youngest(30_000, 'ours')?.order_id).toBe('deposited');
  witnesses.noteAccepted(order('paid'), 10_000);
  expect(witnesses.youngest(30_000, 'ours')?.order_id).toBe('paid');
  const nowMs = Date.now();
  witnesses.noteAccepted(deposit, nowMs - 500, performance.now() - 500);
  const mustBeShown = (type: 'deposit' | 'withdraw') =>
    witnesses
      .later(nowMs - 1_000, nowMs, 100, { ...OURS, type, depositsCountFor: ['withdraw'] })
      .map((one) => one.mustBeShown);
  expect([mustBeShown('deposit'), mustBeShown('withdraw')]).toEqual([[true], [false]]);
});
