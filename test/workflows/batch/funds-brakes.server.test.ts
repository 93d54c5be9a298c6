import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { cancelShort, watchRows } from '../../../src/activities/batch/rows/watch-rows.js';
import type { BatchHandle } from '../../../src/client/batch/batch-handle.js';
import type { BatchInput } from '../../../src/contract/batch/batch.js';
import { noProgress } from '../../../src/workflows/batch/rules.js';
import { startRows, type TestRow, testRows, untilPhase, untilState, useBatchLab } from './batches.fixture.js';

/* Brakes of a batch whose rows wait for funds: a payout of 12.50 usd takes 14. */

const lab = useBatchLab({ sandbox: { settings: { overdraft: false } } });

vi.setConfig({ testTimeout: 180_000 });

const BOB = { by: 'bob', reason: 'a wrong file' };
const setBalance = (usd: string) => lab.sandbox.set({ balances: { usd } });
const createsOf = (rows: readonly TestRow[]) => rows.map(({ id }) => lab.sandbox.stats().createsByOrderId[id] ?? 0);

/** What the activity works with: orders as the batch knew them, however old that is. */
function workOf(batch: BatchHandle, rows: readonly TestRow[], short: number[]) {
  const open = rows.map(({ id }, n) => ({ row: n + 1, orderId: id }));
  const input = { batchId: batch.batchId };
  return {
    client: lab.temporal.client,
    batch: { account: 'default', input, startedAt: new Date(0).toISOString(), mode: 'finish' } as never,
    progress: { ...noProgress(), open, short },
  };
}

/** Starts rows of which one is paid and the others wait. */
async function startShort(label: string, count: number, options: Partial<BatchInput> = {}) {
  setBalance('15');
  const rows = testRows(label, count);
  const batch = await startRows(lab, rows, { whenShort: 'wait', ...options });
  // One that asks does not begin without all funds.
  if (options.whenShort === 'ask') {
    await untilPhase(batch, 'paused');
    await batch.resume(BOB);
  }
  await untilState(batch, ({ progress: { short, outcomes } }) => {
    return short?.length === count - 1 && outcomes?.completed === 1;
  });
  return { rows, batch };
}

/** The rows that waited are cancelled, and money that comes later pays none of them. */
async function expectNothingMore(batch: BatchHandle, rows: readonly TestRow[], stopped?: object): Promise<void> {
  const result = await batch.result({ timeoutMs: 90_000 });
  expect(result).toMatchObject({ outcomes: { completed: 1, refused: rows.length - 1 }, ...(stopped && { stopped }) });
  setBalance('1000');
  await sleep(5_000);
  expect(createsOf(rows)).toEqual([1, ...Array(rows.length - 1).fill(0)]);
}

test('a row that has just ended keeps no other from being cancelled', async () => {
  const { rows, batch } = await startShort('ended', 4);
  await cancelShort(workOf(batch, rows, [1, 2, 3, 4]));
  await expectNothingMore(batch, rows);
});

test.each([
  ['is sent', async () => undefined],
  ['is paused', (batch: BatchHandle) => batch.pause(BOB)],
])('while the batch %s, the latest send time cancels them though every row was started', async (_, act) => {
  const latestSend = new Date(Date.now() + 25_000).toISOString();
  const { rows, batch } = await startShort('late', 3, { latestSend });
  await act(batch).catch(() => undefined);
  const reason = `the latest send time ${latestSend} is over`;
  await expectNothingMore(batch, rows, { by: 'the batch itself', reason });
});

test.each([
  ['a stop', (batch: BatchHandle) => batch.stop(BOB), 'bob'],
  [
    'a cancel request',
    (batch: BatchHandle) => lab.temporal.client.workflow.getHandle(batch.workflowId).cancel(),
    'a cancel request',
  ],
])('%s reaches rows that wait though every row was started', async (_, act, by) => {
  setBalance('0');
  const rows = testRows('unseen', 3);
  const batch = await startRows(lab, rows, { whenShort: 'wait' });
  await untilPhase(batch, 'following');
  await act(batch);
  const result = await batch.result({ timeoutMs: 90_000 });
  expect(result).toMatchObject({ outcomes: { refused: 3 }, stopped: { by } });
  expect(createsOf(rows)).toEqual([0, 0, 0]);
});

test('an order of a batch is not sent after its latest send time, whatever it waited for', async () => {
  setBalance('1000');
  const { accounts } = lab.orders;
  await accounts.stop('default', BOB);
  const rows = testRows('resumed', 2);
  const latestSend = new Date(Date.now() + 20_000).toISOString();
  const batch = await startRows(lab, rows, { latestSend });
  await untilPhase(batch, 'following');
  await sleep(25_000);
  await accounts.resume('default', BOB);
  expect(await batch.result({ timeoutMs: 90_000 })).toMatchObject({ outcomes: { refused: 2 } });
  expect(createsOf(rows)).toEqual([0, 0]);
  // Those that are still wanted are paid, and the others attach.
  const again = await startRows(lab, rows, { batchId: batch.batchId, again: true, latestSend: '2099-01-01T00:00:00Z' });
  expect(await again.result({ timeoutMs: 90_000 })).toMatchObject({ outcomes: { completed: 2 } });
  const others = await startRows(lab, rows, { latestSend: '2098-01-01T00:00:00Z' });
  expect(await others.result({ timeoutMs: 90_000 })).toMatchObject({ outcomes: { completed: 2 } });
  expect(createsOf(rows)).toEqual([1, 1]);
});

test('a stop reaches rows that an earlier run of the batch started', async () => {
  const { rows, batch } = await startShort('again', 3);
  await lab.temporal.client.workflow.getHandle(batch.workflowId).terminate('a look');
  const again = await startRows(lab, rows, { batchId: batch.batchId, whenShort: 'wait', again: true });
  await untilState(again, ({ progress }) => progress.short?.length === 2);
  await again.stop(BOB);
  await expectNothingMore(again, rows, { by: 'bob' });
});

test('the state of an ended batch says what its result says, also of a row that was parked meanwhile', async () => {
  setBalance('1000');
  const rows = testRows('parked', 2, (row) => (row === 1 ? 'create=429' : 'after_ms=60000'));
  const batch = await startRows(lab, rows, { resend: 'never' });
  await untilState(batch, ({ progress }) => progress.outcomes?.parked === 1);
  const order = lab.orders.order(rows[0]?.id ?? '');
  const { revision } = await order.state();
  await order.decide({ action: 'resend', by: 'ann', reason: 'looked it up', revision });
  await order.result();
  const { moved, outcomes } = await batch.result({ timeoutMs: 120_000 });
  expect(outcomes).toMatchObject({ completed: 2, parked: 0 });
  expect((await batch.state()).progress).toMatchObject({ moved, outcomes: { completed: 2, parked: 0 } });
});

test('a row whose reason cannot be read goes on waiting', async () => {
  const { rows, batch } = await startShort('unread', 2, { whenShort: 'ask', maxInFlight: 1 });
  await lab.stopWorkers();
  const work = workOf(batch, rows.slice(1), [1]);
  await watchRows(work);
  expect(work.progress).toMatchObject({ short: [1], open: [{ orderId: rows[1]?.id }] });
  await lab.startWorkers({ directories: { batchDir: lab.folder, reportDir: lab.folder } });
  await batch.stop(BOB);
  await expectNothingMore(batch, rows, { by: 'bob' });
});
