import { afterAll, expect, test, vi } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { runStarterWith } from '../support/run-starter.js';
import { endProcesses } from '../worker/process.fixture.js';
import { useBatchLab } from '../workflows/batch/batches.fixture.js';
import { startBatchWorker } from './killable-workers.fixture.js';
import { say } from './paced-lab.fixture.js';

vi.setConfig({ testTimeout: 300_000 });

const QUEUED = 500;

const lab = useBatchLab({ workers: false, sandbox: { settings: { durationsMs: { pay: 600_000 } } } });
afterAll(endProcesses);

/** Starts orders of which a worker has sent some. Returns their ids, and what counts those that were sent. */
async function queueOrders(count: number): Promise<{ ids: string[]; creates: () => number }> {
  const ids = Array.from({ length: count }, () => newOrderId('queued'));
  for (let from = 0; from < count; from += 50) {
    await Promise.all(ids.slice(from, from + 50).map((id) => lab.orders.start('withdraw', orderInput('withdraw', id))));
  }
  const sent = () => Object.keys(lab.sandbox.stats().createsByOrderId).length;
  const before = sent();
  const creates = () => sent() - before;
  startBatchWorker(lab);
  await vi.waitUntil(() => creates() > 20, { timeout: 60_000, interval: 10 });
  return { ids, creates };
}

test('a hold that comes while an order is queued works before its create', async () => {
  const { ids, creates } = await queueOrders(200);
  const held = [ids[120], ids[199]] as [string, string];
  // Some of the answers take longer than their caller waits.
  await Promise.allSettled(held.map((id) => lab.orders.order(id).hold({ by: 'Ann Smith', reason: 'a test' })));
  await vi.waitUntil(() => creates() === 198, { timeout: 120_000, interval: 200 });
  for (const id of held) {
    expect((await lab.orders.order(id).state()).attention?.code).toBe('held');
    expect(lab.sandbox.stats().createsByOrderId[id]).toBeUndefined();
  }
});

test('a stop works before the orders that are queued: few creates follow the request', async () => {
  const { creates } = await queueOrders(QUEUED);
  const [before, askedAtMs] = [creates(), performance.now()];
  const words = ['account', 'stop', 'default', '--by', 'Ann Smith', '--reason', 'a test'];
  const { code: exitCode } = await runStarterWith(async () => lab.orders, words);
  const seconds = (performance.now() - askedAtMs) / 1_000;
  await vi.waitFor(() => lab.orders.accounts.state('default'));
  const after = creates() - before;
  say(`a stop beside ${QUEUED} queued orders: answered after ${seconds.toFixed(1)} s, ${after} creates followed`);
  expect(exitCode).toBe(0);
  // At the priority of orders, the command gives up after 15 s. All share two cores here.
  expect(seconds).toBeLessThan(5);
  // At most 20 on a machine at rest.
  expect(after).toBeLessThanOrEqual(30);
});
