import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { shareOf } from '../../src/worker/limit-shares.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { endProcesses, type Process } from './process.fixture.js';
import { startVersion, temporal, untilShares } from './versions.fixture.js';

const LIMIT = { PAYMENT_REQUESTS_PER_SECOND: '40' };
const WORKER = 'src/worker.ts';

const lab = useLab({ workers: false });
let worker: Process;
beforeAll(async () => {
  worker = await startVersion(lab, WORKER, undefined, LIMIT);
});
afterAll(endProcesses);

const shares = (worker: Process, expected: number) => untilShares([worker], expected, 45_000);

const setLimit = (limit: string) =>
  temporal(
    lab.temporal,
    `task-queue config set --task-queue payment-service:default:create --task-queue-type activity --queue-rps-limit ${limit}`,
  );

test('an operator slows an account down by its queue, without a restart, and lets it go again', async () => {
  await shares(worker, shareOf(40, 1));
  await setLimit('8');
  await shares(worker, shareOf(8, 1));
  await setLimit('default');
  await shares(worker, shareOf(40, 1));
});

test('the limit 0 stops the creates within 2 s and nothing else, until it is lifted', async () => {
  await shares(worker, shareOf(40, 1));
  const ids = Array.from({ length: 60 }, (_, index) => newOrderId(`zero-${index}`));
  const following = newOrderId('following');
  const followed = await lab.orders.start('withdraw', orderInput('withdraw', following, { marker: 'after_ms=6000' }));
  await followed.created();
  const handles = await Promise.all(ids.map((id) => lab.orders.start('withdraw', orderInput('withdraw', id))));
  const creates = () => lab.sandbox.requests().filter(({ path }) => path.endsWith('/order/withdraw'));
  await vi.waitFor(() => expect(creates().length).toBeGreaterThan(10), { timeout: 20_000, interval: 10 });
  await setLimit('0');
  const stoppedAtMs = Date.now();
  expect((await followed.result()).outcome).toBe('completed');
  expect(Object.keys(await lab.orders.balances('default', { timeoutMs: 10_000 }))).toContain('usd');
  await sleep(8_000);
  const times = creates().map(({ atMs }) => atMs - stoppedAtMs);
  process.stdout.write(`${times.length} creates, the last ${Math.max(...times)} ms after the limit 0\n`);
  expect(times.filter((ms) => ms > 2_000)).toEqual([]);
  expect(times.length).toBeLessThan(ids.length);
  await setLimit('default');
  for (const handle of handles) expect((await handle.result({ timeoutMs: 60_000 })).outcome).toBe('completed');
  expect(Math.max(...Object.values(lab.sandbox.stats().executedByOrderId))).toBe(1);
  worker.kill('SIGTERM');
  expect(await worker.exited).toBe(0);
});
