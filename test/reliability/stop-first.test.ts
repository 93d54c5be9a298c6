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

test('a stop works before the orders that are queued: few creates follow the request', async () => {
  const ids = Array.from({ length: QUEUED }, () => newOrderId('queued'));
  for (let from = 0; from < QUEUED; from += 50) {
    await Promise.all(ids.slice(from, from + 50).map((id) => lab.orders.start('withdraw', orderInput('withdraw', id))));
  }
  const creates = () => Object.keys(lab.sandbox.stats().createsByOrderId).length;
  startBatchWorker(lab);
  await vi.waitUntil(() => creates() > 20, { timeout: 60_000, interval: 10 });
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
