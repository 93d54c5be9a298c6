import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { endProcesses } from '../worker/process.fixture.js';
import { executedOf, startRows, testRows, untilState, useBatchLab } from '../workflows/batch/batches.fixture.js';
import { type KillableWorkers, startKillableWorkers } from './killable-workers.fixture.js';

/* Two worker processes share the line of the account; a payout of 12.50 usd takes 14. */

const lab = useBatchLab({ workers: false, sandbox: { settings: { overdraft: false } } });
let workers: KillableWorkers;
beforeAll(async () => {
  workers = await startKillableWorkers(lab, 2, { ORDER_POLL_INITIAL: '500ms', ORDER_POLL_MAX: '2s' });
});
afterAll(endProcesses);

const setBalance = (usd: string) => lab.sandbox.set({ balances: { usd } });

async function startWaiting(label: string) {
  const orderId = newOrderId(label);
  return lab.orders.start('withdraw', orderInput('withdraw', orderId, { whenShort: 'wait' }));
}

const creates = (orderId: string): number => lab.sandbox.stats().createsByOrderId[orderId] ?? 0;

test('orders that start together never take the same money, and all are paid once after a deposit', async () => {
  setBalance('60');
  const orders = await Promise.all(Array.from({ length: 12 }, () => startWaiting('both')));
  const sent = () => orders.filter(({ orderId }) => creates(orderId) > 0).length;
  await vi.waitFor(() => expect(sent()).toBe(4), 60_000);
  await sleep(5_000);
  expect(sent()).toBe(4);
  setBalance('1000');
  const ends = await Promise.all(orders.map((order) => order.result()));
  expect(ends.map(({ outcome }) => outcome)).toEqual(Array(12).fill('completed'));
  expect(orders.map(({ orderId }) => creates(orderId))).toEqual(Array(12).fill(1));
});

test('orders wait on while both workers are killed, and are paid once', async () => {
  setBalance('0');
  const orders = [await startWaiting('killed'), await startWaiting('killed')];
  for (const order of orders) {
    await vi.waitFor(async () => expect((await order.state()).waitingFor).toContain('are missing'), 60_000);
  }
  await workers.replace();
  setBalance('20');
  await expect(orders[0]?.result({ timeoutMs: 120_000 })).resolves.toMatchObject({ outcome: 'completed' });
  expect(creates(orders[1]?.orderId ?? '')).toBe(0);
  setBalance('20');
  await expect(orders[1]?.result({ timeoutMs: 120_000 })).resolves.toMatchObject({ outcome: 'completed' });
  expect(orders.map(({ orderId }) => creates(orderId))).toEqual([1, 1]);
});

test('a batch of 50 rows that runs short goes on after a deposit, in the order of its rows; each is paid once', async () => {
  setBalance('300');
  const rows = testRows('short', 50);
  const batch = await startRows(lab, rows, { whenShort: 'wait', maxInFlight: 25 });
  const state = await untilState(batch, ({ waitingFor }) => waitingFor.startsWith('funds: row'));
  expect(state).toMatchObject({ phase: 'sending', plan: { whenShort: 'wait' } });
  expect(state.attention).toBeUndefined();
  await vi.waitFor(() => expect(executedOf(lab, rows)).toBe(21), 60_000);
  expect(rows.map(({ id }) => creates(id))).toEqual(rows.map((_, index) => (index < 21 ? 1 : 0)));
  // It can be paused and resumed meanwhile.
  await batch.pause({ by: 'bob', reason: 'a look' });
  await untilState(batch, ({ phase }) => phase === 'paused');
  await batch.resume({ by: 'bob', reason: 'seen' });
  await workers.replaceOne();
  setBalance('100000');
  expect((await batch.result()).outcomes).toMatchObject({ completed: 50, notStarted: 0 });
  expect(rows.map(({ id }) => creates(id))).toEqual(Array(50).fill(1));
});

test('a batch that asks holds its rows until a person has decided', async () => {
  setBalance('20');
  const rows = testRows('ask', 6);
  const batch = await startRows(lab, rows, { whenShort: 'ask', maxInFlight: 1 });
  const paused = await untilState(batch, ({ phase }) => phase === 'paused');
  expect(paused.attention).toContain('are missing');
  await batch.resume({ by: 'bob', reason: 'the deposit comes soon' });
  const held = await untilState(batch, ({ attentionCode }) => attentionCode === 'batch-held');
  expect(held.attention).toContain('the balance does not cover row 2; decide on its order');
  const order = lab.orders.order(rows[1]?.id ?? '');
  const { revision } = await order.state();
  setBalance('1000');
  await order.decide({ action: 'resend', by: 'ann', reason: 'paid in', revision });
  expect((await batch.result()).outcomes).toMatchObject({ completed: 6 });
  expect(rows.map(({ id }) => creates(id))).toEqual(Array(6).fill(1));
});

test('a batch that is stopped while its rows wait for funds cancels them, and nothing of them is sent', async () => {
  setBalance('30');
  const rows = testRows('stop', 6);
  const batch = await startRows(lab, rows, { whenShort: 'wait' });
  await untilState(batch, ({ progress }) => progress.short?.length === 4 && progress.outcomes?.completed === 2);
  await batch.stop({ by: 'bob', reason: 'a wrong file' });
  const { outcomes } = await batch.result();
  expect(outcomes).toMatchObject({ completed: 2, refused: 4 });
  setBalance('1000');
  expect(rows.map(({ id }) => creates(id))).toEqual([1, 1, 0, 0, 0, 0]);
});
