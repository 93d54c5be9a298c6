import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { type DevServer, startDevServer } from '../../scripts/temporal/dev-server.js';
import { PaymentOrders } from '../../src/client.js';
import { ENCRYPTION_KEY } from '../config/config.fixture.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import {
  type Process,
  receiverEnv,
  startProcess,
  startSandboxProcess,
  temporalEnv,
  useProcesses,
  workerEnv,
} from '../worker/process.fixture.js';

const NO_SERVICE = 'http://127.0.0.1:9';
const METRICS = { METRICS_ADDRESS: '127.0.0.1:0' };

const temporal = useProcesses();

const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;

describe('health', () => {
  let server: DevServer | undefined;
  afterAll(async () => server?.stop());

  test('worker and receiver stay alive and stop being ready when Temporal is gone', async () => {
    server = await startDevServer({ log: () => undefined });
    const env = { ...temporalEnv(server), ...METRICS };
    const worker = startProcess('src/worker.ts', workerEnv(env, NO_SERVICE));
    const receiver = startProcess('src/receiver.ts', receiverEnv(env, 0));
    const { metrics: ofWorker = '' } = await worker.ready;
    const { metrics: ofReceiver = '', receiver: door = '' } = await receiver.ready;
    const ports = [ofWorker, ofReceiver, door];
    const statuses = (path: string) => Promise.all(ports.map((url) => statusOf(`${url}${path}`)));
    await vi.waitFor(async () => expect(await statuses('/readyz')).toEqual([200, 200, 200]), 30_000);
    expect(await statuses('/healthz')).toEqual([200, 200, 200]);
    await server.stop();
    await vi.waitFor(async () => expect(await statuses('/readyz')).toEqual([503, 503, 503]), 30_000);
    // Longer than an answer is shared, so that each asks anew where connections are refused.
    for (let n = 0; n < 4; n += 1) {
      await sleep(1_100);
      const askedAtMs = performance.now();
      expect(await statuses('/readyz')).toEqual([503, 503, 503]);
      expect(performance.now() - askedAtMs).toBeLessThan(3_500);
    }
    expect(await statuses('/healthz')).toEqual([200, 200, 200]);
  });
});

describe('the log of a worker', () => {
  const order = {
    order: { order_id: 'monitored-1', currency: 'usd', network: 'card', amount: '12.50', wallet: '4111111111111111' },
  };

  const linesOf = (worker: Process): Record<string, unknown>[] =>
    worker
      .stderr()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  test('has no error line for an order or a reading that ends as a failure: nothing is repeated', async () => {
    const { service } = await startSandboxProcess();
    const worker = startProcess('src/worker.ts', { ...workerEnv(temporalEnv(temporal), service), LOG_LEVEL: 'warn' });
    const orders = new PaymentOrders(temporal.client);
    try {
      await worker.ready;
      const input = orderInput('withdraw', newOrderId('monitored'), { marker: 'create=400' });
      const order = await orders.start('withdraw', input);
      await expect(order.result()).rejects.toMatchObject({ type: 'OrderRejected' });
      // Made in an activity, and thrown again by the workflow.
      await expect(orders.orderStatus({ order_uuid: 'nobody-has-it' })).rejects.toThrow();
      const ended = () => linesOf(worker).filter(({ msg }) => msg === 'Workflow failed');
      await vi.waitFor(() => expect(ended()).toHaveLength(2), 20_000);
      expect(ended()[0]).toMatchObject({ level: 40, workflowId: order.workflowId, workflowType: 'withdraw' });
    } finally {
      // Workflow tasks of the next test would go to it.
      worker.kill('SIGTERM');
      await worker.exited;
    }
    expect(linesOf(worker).filter(({ level }) => Number(level) > 40)).toEqual([]);
  });

  test('is JSON throughout, and names id, type, run and cause of a workflow task that fails', async () => {
    const { service } = await startSandboxProcess();
    const env = temporalEnv(temporal);
    const keys = { PAYLOAD_ENCRYPTION_KEYS: `a:${ENCRYPTION_KEY}` };
    const worker = startProcess('src/worker.ts', { ...workerEnv(env, service), ...keys, LOG_LEVEL: 'warn' });
    await worker.ready;
    const otherKeys = { PAYLOAD_ENCRYPTION_KEYS: `b:${randomBytes(32).toString('base64')}` };
    const args = ['order', 'start', 'withdraw', '-'];
    const starter = startProcess('src/starter.ts', { ...env, ...otherKeys }, { args, stdin: JSON.stringify(order) });
    expect(await starter.exited).toBe(0);
    const entries = () => linesOf(worker);
    const ofTasks = () => entries().filter(({ msg }) => msg === 'Workflow failed');
    await vi.waitFor(() => expect(ofTasks()).not.toEqual([]), 30_000);
    expect(ofTasks()[0]).toMatchObject({
      workflowId: 'order:default:monitored-1',
      workflowType: 'withdraw',
      runId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      error: { message: 'payload encrypted with key b: not in PAYLOAD_ENCRYPTION_KEYS' },
    });
    worker.kill('SIGTERM');
    await worker.exited;
    expect(worker.stdout().split('\n')).toEqual([expect.stringMatching(/^ready /), '']);
    expect(entries().filter(({ level }) => Number(level) < 40)).toEqual([]);
  });
});
