import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type DevServer, startDevServer } from '../../scripts/temporal/dev-server.js';
import { PaymentOrders } from '../../src/client.js';
import { newFolder } from '../support/batch-files.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import {
  endProcesses,
  receiverEnv,
  startProcess,
  startSandboxProcess,
  temporalEnv,
  workerEnv,
} from './process.fixture.js';

const folder = newFolder(afterAll);
let server: DevServer | undefined;

/** A server of this test's own; the same port and database again is the same server after a crash. */
const startServer = (port?: number) =>
  startDevServer({ log: () => undefined, dbFile: join(folder, 'temporal.db'), ...(port && { port }) });

beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => {
  await endProcesses();
  await server?.stop();
});

/** Where each order stands when the server is killed. */
const ORDERS = {
  waiting: 'after_ms=6000',
  creating: 'create=slow slow_ms=4000',
  uncertain: 'create=500-after',
  'told-meanwhile': 'after_ms=1500',
};

test('the Temporal server killed under open orders: all end, executed once each', { timeout: 180_000 }, async () => {
  if (!server) throw new Error('no server');
  const { address, namespace } = server;
  const env = temporalEnv({ address, namespace });
  const { service, stats } = await startSandboxProcess();
  const receiver = startProcess('src/receiver.ts', receiverEnv(env, 0));
  const { receiver: url = '' } = await receiver.ready;
  const worker = startProcess('src/worker.ts', {
    ...workerEnv(env, service, url),
    // A callback that came while the server was down is tried again; polling finds the others.
    ORDER_POLL_INITIAL: '1s',
    ORDER_POLL_MAX: '3s',
  });
  await worker.ready;
  const connection = await Connection.connect({ address });
  const orders = new PaymentOrders(new Client({ connection, namespace }));
  const handles = await Promise.all(
    Object.entries(ORDERS).map(([label, marker]) => {
      const orderId = newOrderId(label);
      return orders.start('withdraw', orderInput('withdraw', orderId, { marker }));
    }),
  );
  const orderIds = handles.map(({ orderId }) => orderId);
  await vi.waitFor(
    async () => expect(Object.keys((await stats()).executedByOrderId).sort()).toEqual([...orderIds].sort()),
    { timeout: 60_000, interval: 50 },
  );

  await server.kill();
  await vi.waitFor(async () => expect((await stats()).callbacksSent).toBeGreaterThan(0), { timeout: 60_000 });
  server = await startServer(Number(address.split(':')[1]));

  const results = await Promise.all(handles.map((handle) => handle.result()));
  expect(results.map(({ outcome }) => outcome)).toEqual(orderIds.map(() => 'completed'));
  const { executedByOrderId, createsByOrderId } = await stats();
  for (const orderId of orderIds) {
    expect(executedByOrderId[orderId]).toBe(1);
    expect(createsByOrderId[orderId]).toBe(1);
  }
  worker.kill('SIGTERM');
  expect(await worker.exited, worker.stderr()).toBe(0);
  await connection.close();
});
