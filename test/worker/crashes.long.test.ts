import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { SandboxStats } from '../../sandbox/admin.js';
import { freePort } from '../../scripts/temporal/dev-server.js';
import { PaymentOrders } from '../../src/client.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { createTestNamespace, type TestNamespace } from '../support/temporal.js';
import {
  endProcesses,
  type Process,
  receiverEnv,
  startProcess,
  startSandboxProcess,
  temporalEnv,
  workerEnv,
} from './process.fixture.js';

/** An attempt whose worker died is given up after 60 s. */
const TEST_LIMIT_MS = 180_000;

let service: string;
let stats: () => Promise<SandboxStats>;
beforeAll(async () => {
  ({ service, stats } = await startSandboxProcess());
});
afterAll(endProcesses);

/** A namespace per test: another test's worker must not take over what this test's worker drops. */
async function withNamespace(body: (temporal: TestNamespace, orders: PaymentOrders) => Promise<void>): Promise<void> {
  const temporal = await createTestNamespace();
  try {
    await body(temporal, new PaymentOrders(temporal.client));
  } finally {
    await temporal.close();
  }
}

/** Resolves once the service has executed the order; its create may still be without an answer. */
const executed = (orderId: string) =>
  vi.waitFor(async () => expect((await stats()).executedByOrderId[orderId]).toBe(1), {
    timeout: 60_000,
    interval: 50,
  });

async function startWorker(temporal: TestNamespace, callbackBaseUrl?: string): Promise<Process> {
  const worker = startProcess('src/worker.ts', workerEnv(temporalEnv(temporal), service, callbackBaseUrl));
  await worker.ready;
  return worker;
}

describe.concurrent('a process that ends in the middle of an order', () => {
  test('worker killed during a create: the order is executed once and adopted', { timeout: TEST_LIMIT_MS }, () =>
    withNamespace(async (temporal, orders) => {
      const orderId = newOrderId('killed');
      const worker = await startWorker(temporal);
      const input = orderInput('withdraw', orderId, { marker: 'create=slow slow_ms=15000' });
      const handle = await orders.start('withdraw', input);
      await executed(orderId);
      worker.kill('SIGKILL');
      await worker.exited;
      const second = await startWorker(temporal);
      expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
      const { createsByOrderId, executedByOrderId } = await stats();
      expect(createsByOrderId[orderId]).toBe(1);
      expect(executedByOrderId[orderId]).toBe(1);
      second.kill('SIGKILL');
    }),
  );

  test('worker told to stop during a create, twice: it finishes the create first', { timeout: TEST_LIMIT_MS }, () =>
    withNamespace(async (temporal, orders) => {
      const orderId = newOrderId('stopped');
      const worker = await startWorker(temporal);
      const input = orderInput('withdraw', orderId, { marker: 'create=slow slow_ms=3000' });
      const handle = await orders.start('withdraw', input);
      await executed(orderId);
      worker.kill('SIGTERM');
      worker.kill('SIGTERM');
      expect(await worker.exited).toBe(0);
      const second = await startWorker(temporal);
      expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: false });
      expect((await stats()).createsByOrderId[orderId]).toBe(1);
      second.kill('SIGKILL');
    }),
  );

  test(
    'receiver killed: the callback comes again after its restart, and the order ends',
    { timeout: TEST_LIMIT_MS },
    () =>
      withNamespace(async (temporal, orders) => {
        const orderId = newOrderId('deaf');
        const port = await freePort();
        const receive = () => startProcess('src/receiver.ts', receiverEnv(temporalEnv(temporal), port));
        const receiver = receive();
        const { receiver: url } = await receiver.ready;
        const worker = await startWorker(temporal, url);
        const handle = await orders.start('withdraw', orderInput('withdraw', orderId, { marker: 'after_ms=1500' }));
        await handle.created();
        receiver.kill('SIGKILL');
        await receiver.exited;
        await vi.waitFor(async () => expect((await stats()).callbacksSent).toBeGreaterThan(0), { timeout: 30_000 });
        const restarted = receive();
        await restarted.ready;
        expect(await handle.result()).toMatchObject({ outcome: 'completed' });
        expect((await stats()).executedByOrderId[orderId]).toBe(1);
        for (const left of [worker, restarted]) left.kill('SIGKILL');
      }),
  );
});
