import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type DevServer, startDevServer } from '../../scripts/temporal/dev-server.js';
import { notOnce, openOrders, startAgain } from '../activities/reconcile/lost-orders.fixture.js';
import { type Lab, openLab } from '../support/lab.js';

const ORDERS = 200;

let folder = '';
const servers: DevServer[] = [];
const labs: Lab[] = [];

/** A server of this test's own, on the one database file. */
async function startServer(): Promise<DevServer> {
  const server = await startDevServer({ log: () => undefined, dbFile: join(folder, 'temporal.db') });
  servers.push(server);
  return server;
}

afterAll(async () => {
  for (const lab of labs.reverse()) await lab.close();
  await Promise.all(servers.map((server) => server.stop()));
  await rm(folder, { recursive: true, force: true });
});

test('the Temporal database deleted under 200 open orders: all are followed to their end, none is paid twice', {
  timeout: 600_000,
}, async () => {
  folder = await mkdtemp(join(tmpdir(), 'payment-orders-lost-'));
  const before = await startServer();
  const lost = await openLab({
    temporalAddress: before.address,
    // Callbacks would go on knocking at the server that is gone.
    callbacks: false,
    sandbox: { settings: { duplicateMode: 'c' } },
  });
  labs.push(lost);
  const orders = await openOrders(lost, ORDERS, 120_000);
  await lost.stopWorkers();
  await before.kill();
  for (const file of await readdir(folder)) await rm(join(folder, file));

  const after = await startServer();
  const lab = await openLab({
    temporalAddress: after.address,
    callbacks: false,
    serviceUrl: async () => lost.sandbox.url,
  });
  labs.push(lab);
  const result = await lab.orders.reconcile({ recover: true });
  // On a busy machine some are final by now: those are reported, and adopted below when they are started again.
  const { recovered, foreign } = result.classes;
  expect(recovered + foreign).toBe(ORDERS);
  expect(recovered).toBeGreaterThan(ORDERS / 2);

  const handles = await startAgain(lab, orders);
  const results = await Promise.all(handles.map((handle) => handle.result()));
  expect(results).toMatchObject(orders.map(() => ({ outcome: 'completed', adopted: true })));
  expect(notOnce(lost, orders)).toEqual([]);
});
