import { afterAll, beforeAll, expect, test } from 'vitest';
import { shareOf } from '../../src/worker/limit-shares.js';
import { type Lab, openLab } from '../support/lab.js';
import { endProcesses, type Process } from './process.fixture.js';
import { startVersion, temporal, untilShares } from './versions.fixture.js';

const LIMIT = { PAYMENT_REQUESTS_PER_SECOND: '40' };
const WORKER = 'src/worker.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ workers: false });
});
afterAll(async () => {
  await endProcesses();
  await lab?.close();
});

const shares = (worker: Process, expected: number) => untilShares([worker], expected, 45_000);

const setLimit = (limit: string) =>
  temporal(
    lab.temporal,
    `task-queue config set --task-queue payment-service:default:create --task-queue-type activity --queue-rps-limit ${limit}`,
  );

test('an operator slows an account down by its queue, without a restart, and lets it go again', async () => {
  const worker = await startVersion(lab, WORKER, undefined, LIMIT);
  await shares(worker, shareOf(40, 1));
  await setLimit('8');
  await shares(worker, shareOf(8, 1));
  await setLimit('default');
  await shares(worker, shareOf(40, 1));
  worker.kill('SIGTERM');
  expect(await worker.exited).toBe(0);
});
