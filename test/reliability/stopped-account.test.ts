import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { decideOn } from '../model/decisions.fixture.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { executedOf, startRows, testRows } from '../workflows/batch/batches.fixture.js';
import { say, usePacedLab } from './paced-lab.fixture.js';
import { resetTo, resettableEvents, runOf } from './reset.fixture.js';

const ROWS = 200;
const STOPPED_AT = 40;
const WITHIN_MS = 2_000;
const ANN = { by: 'Ann Smith', reason: 'the bank called' };
const BOB = { by: 'Bob Jones', reason: 'it was a mistake' };

const lab = usePacedLab(30);

vi.setConfig({ testTimeout: 400_000 });

const creates = () => lab.sandbox.requests().filter(({ path }) => path.endsWith('/order/withdraw'));

/** Resolves once an order's page says that it waits for the stop. */
const untilWaiting = (id: string) =>
  vi.waitFor(async () => expect(JSON.stringify([id, await lab.orders.order(id).state()])).toContain('is stopped'), {
    timeout: 90_000,
    interval: 200,
  });

/** Resets a waiting order. Its new run cannot know that nothing was sent, so a person permits the send. */
async function resetAndResend(id: string): Promise<void> {
  const order = lab.orders.order(id);
  const run = await runOf(lab, order);
  const [event = ''] = await resettableEvents(lab, run);
  await resetTo(lab, run, event);
  const isParked = async () => expect((await order.state()).attention?.code).toBe('uncertain-create');
  await vi.waitFor(isParked, { timeout: 120_000, interval: 500 });
  const { revision, runId } = await order.state();
  await order.decide({ action: 'resend', ...BOB, revision, runId });
}

/** Permits what Temporal handed to no worker and what no later order ends the doubt of. */
async function resendAsked(): Promise<void> {
  const { orders } = await lab.orders.list({ needsAttention: true });
  for (const { orderId } of orders) {
    const order = lab.orders.order(orderId);
    await decideOn(order, await order.state(), { action: 'resend' });
  }
}

test('two workers send nothing of a batch later than 2 s after the stop, and all once after the resume', async () => {
  // Ids of one length: an order in doubt waits for a later one whose id looks like its own.
  const rows = testRows('', ROWS).map((row, index) => ({ ...row, id: `stopped-${process.pid}-${1_000 + index}` }));
  const batch = await startRows(lab, rows, { maxInFlight: ROWS });
  while (executedOf(lab, rows) < STOPPED_AT) await sleep(5);
  await lab.orders.accounts.stop('default', ANN);
  const stoppedAtMs = Date.now();
  const [single, reset] = [newOrderId('single'), newOrderId('reset')];
  const singles = await Promise.all(
    [single, reset].map((id) => lab.orders.start('withdraw', orderInput('withdraw', id))),
  );
  // The first unsent row may be one whose task Temporal lost on its way to a worker, which asks a person.
  const states = await Promise.allSettled(rows.map(({ id }) => lab.orders.order(id).state()));
  const lastStarted = rows[states.findLastIndex(({ status }) => status === 'fulfilled')]?.id ?? '';
  await Promise.all([single, reset, lastStarted].map(untilWaiting));
  await lab.workers.replaceOne();
  await resetAndResend(reset);
  await untilWaiting(reset);
  await sleep(5_000);

  const times = creates().map(({ atMs }) => atMs - stoppedAtMs);
  say(`${times.length} creates before the stop; the last came ${Math.max(...times)} ms after it`);
  expect(times.filter((ms) => ms > WITHIN_MS)).toEqual([]);
  expect(times.length).toBeLessThan(ROWS / 2);
  // Only a create that the killed worker had may ask: nothing is sent later that would end its doubt.
  const asking = (await lab.orders.list({ needsAttention: true })).orders.map(({ attention }) => attention?.code);
  say(`${asking.length} orders ask for a person`);
  expect(asking.filter((code) => code !== 'uncertain-create')).toEqual([]);
  expect(asking.length).toBeLessThan(ROWS / 10);

  await lab.orders.accounts.resume('default', BOB);
  const before = times.length;
  await vi.waitFor(() => expect(creates().length).toBeGreaterThan(before), { timeout: 5_000 });
  const { completed, parked } = (await batch.result()).outcomes;
  expect(completed + parked).toBe(ROWS);
  await resendAsked();
  const all = [...singles, ...rows.map(({ id }) => lab.orders.order(id))];
  for (const order of all) expect((await order.result({ timeoutMs: 90_000 })).outcome).toBe('completed');
  const { executedByOrderId } = lab.sandbox.stats();
  expect(Object.keys(executedByOrderId)).toHaveLength(ROWS + 2);
  expect(Math.max(...Object.values(executedByOrderId))).toBe(1);
});
