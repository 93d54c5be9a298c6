import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import type { OrderHandle } from '../../src/client/order-handle.js';
import { PaymentOrders } from '../../src/client.js';
import { newFolder } from '../support/batch-files.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { startProcess, startSandboxProcess, temporalEnv, useProcesses, workerEnv } from './process.fixture.js';

// An attempt whose worker was killed is given up after 60 s.
vi.setConfig({ testTimeout: 280_000 });

const ORDERS = 36;
/** Every third order waits for a person, who permits another send. */
const PARKED = { marker: 'create=500-before', resend: 'never' } as const;
const isDecided = (index: number): boolean => index % 3 === 0;

const top = newFolder(afterAll);
const folder = join(top, 'audit');
const temporal = useProcesses();

/** Permits the send once a person is asked. Asked of a killed worker, it is read again and asked anew, as the error says. */
async function decide(order: OrderHandle): Promise<void> {
  await vi.waitFor(async () => expect((await order.state()).phase).toBe('parked'), { timeout: 200_000, interval: 200 });
  for (let { phase, revision } = await order.state(); phase === 'parked'; { phase, revision } = await order.state()) {
    const decided = order.decide({ action: 'resend', by: 'ann', reason: 'absent', revision });
    await decided.catch((error) => expect(error).toMatchObject({ name: 'NoWorkerError' }));
  }
}

async function linesOf(files: readonly string[]): Promise<Record<string, unknown>[]> {
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  // What the killed worker was writing has no line break, and nothing relied on it.
  return texts.flatMap((text) => text.split('\n').slice(0, -1)).map((line) => JSON.parse(line));
}

test('three workers write one record, one is killed on the way: it holds, and every create and decision has its line', async () => {
  const { service, stats } = await startSandboxProcess();
  const env = { ...workerEnv(temporalEnv(temporal), service), AUDIT_DIR: folder };
  const workers = [1, 2, 3].map(() => startProcess('src/worker.ts', env));
  await Promise.all(workers.map(({ ready }) => ready));
  const orders = new PaymentOrders(temporal.client);
  const started = await Promise.all(
    Array.from({ length: ORDERS }, (_, index) =>
      orders.start('withdraw', orderInput('withdraw', newOrderId('audited'), isDecided(index) ? PARKED : {})),
    ),
  );
  const decided = started.filter((_, index) => isDecided(index));
  const deciding = Promise.all(decided.map(decide));
  const linesSoFar = async () => linesOf((await readdir(folder)).map((name) => join(folder, name)));
  const isUnderWay = async () => (await linesSoFar()).some(({ event }) => event === 'decide');
  await vi.waitUntil(isUnderWay, { timeout: 100_000, interval: 20 });
  workers[0]?.kill('SIGKILL');
  await deciding;
  const results = await Promise.all(started.map((order) => order.result()));
  expect(results.map(({ outcome }) => outcome)).toEqual(started.map(() => 'completed'));
  for (const worker of workers) worker.kill('SIGTERM');
  await Promise.all(workers.map(({ exited }) => exited));

  const log = join(top, 'worker.log');
  await writeFile(log, workers.map((worker) => worker.stderr()).join(''));
  const verify = startProcess('src/starter.ts', {}, { args: ['audit', 'verify', folder, '--anchors', log, '--json'] });
  const exitCode = await verify.exited;
  const { files, ...rest } = JSON.parse(verify.stdout());
  expect(rest).toMatchObject({ problems: [], missing: [] });
  // The killed worker may have written a line that its log lacks, and nothing else may be wrong.
  const problems = files.map((file: { problems: string[] }) => file.problems);
  const holds = (found: string[]) => found.every((one) => /^lines from \d+ on: no anchor .* worker died/.test(one));
  expect(problems).toHaveLength(3);
  expect(problems.filter((found: string[]) => found.length > 0).length).toBeLessThanOrEqual(1);
  expect(problems.every(holds), verify.stdout()).toBe(true);
  expect(exitCode).toBe(problems.flat().length > 0 ? 1 : 0);

  const lines = await linesSoFar();
  const { createsByOrderId, executedByOrderId } = await stats();
  for (const { orderId, workflowId } of started) {
    const sends = lines.filter((line) => line.event === 'send' && line.workflowId === workflowId);
    expect(new Set(sends.map(({ id }) => id)).size).toBeGreaterThanOrEqual(createsByOrderId[orderId] ?? 0);
    expect(executedByOrderId[orderId]).toBe(1);
  }
  const told = new Set(lines.filter(({ event }) => event === 'decide').map((line) => line.workflowId));
  expect([...told].sort()).toEqual(decided.map(({ workflowId }) => workflowId).sort());
});
