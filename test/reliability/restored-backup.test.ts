import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { type DevServer, freePort, startDevServer } from '../../scripts/temporal/dev-server.js';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';

const AN_HOUR_MS = 3_600_000;

let folder = '';
let server: DevServer | undefined;
let lab: Lab | undefined;

/** What a stopped server leaves is in two files; the third is made anew from them. */
async function copyDatabase(from: string, to: string): Promise<void> {
  for (const end of ['', '-wal']) await copyFile(`${from}${end}`, `${to}${end}`);
  await rm(`${to}-shm`, { force: true });
}

afterAll(async () => {
  await lab?.close();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('Temporal restored from a backup of before a create was sent, while the service does not show it yet: it is paid once', {
  timeout: 180_000,
}, async () => {
  folder = await mkdtemp(join(tmpdir(), 'payment-orders-restored-'));
  const dbFile = join(folder, 'temporal.db');
  const backup = join(folder, 'backup.db');
  const options = { log: () => undefined, dbFile, port: await freePort() };
  server = await startDevServer(options);
  lab = await openLab({
    temporalAddress: server.address,
    workers: false,
    callbacks: false,
    pace: { settleWindowMs: { atOnce: 15_000, deposit: 15_000 } },
    sandbox: { settings: { duplicateMode: 'c', visibilityLagMs: AN_HOUR_MS } },
  });
  const { sandbox } = lab;
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('restored')));
  const executed = () => sandbox.stats().executedByOrderId[handle.orderId];

  await server.stop();
  await copyDatabase(dbFile, backup);
  server = await startDevServer(options);
  await lab.startWorkers();
  await vi.waitFor(() => expect(executed()).toBe(1), { timeout: 60_000 });
  await lab.stopWorkers();

  await server.stop();
  await copyDatabase(backup, dbFile);
  server = await startDevServer(options);
  const before = lab.requestsOf(handle.orderId).length;
  await lab.startWorkers({ restoredAtMs: Date.now() });
  // Its probe and a look-up found nothing: what was sent before the backup was put back is not shown yet.
  await vi.waitFor(() => expect(lab?.requestsOf(handle.orderId).length).toBeGreaterThan(before + 1), {
    timeout: 60_000,
  });
  sandbox.set({ visibilityLagMs: 0 });

  const result = await handle.result();
  expect(executed()).toBe(1);
  expect(result).toMatchObject({ outcome: 'completed', adopted: true });
});
