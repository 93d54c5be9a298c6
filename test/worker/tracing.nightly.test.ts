import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { orderWorkflowId } from '../../src/contract/names.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { createTestNamespace, type TestNamespace } from '../support/temporal.js';
import { type Collector, startCollector } from './collector.fixture.js';
import {
  type Env,
  endProcesses,
  receiverEnv,
  startProcess,
  startSandboxProcess,
  TOKEN_KEY,
  temporalEnv,
  workerEnv,
} from './process.fixture.js';

/** Makes a worker send spans to a collector soon. */
const tracedBy = (url: string): Env => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: '200' });

/** Starts receiver and worker in processes of their own, with a sandbox; `more`: of the worker alone. */
async function startInstallation(more: Env = {}) {
  const temporal: TestNamespace = await createTestNamespace();
  const env = temporalEnv(temporal);
  const { service } = await startSandboxProcess();
  const receiver = startProcess('src/receiver.ts', receiverEnv(env, 0));
  const { receiver: door } = await receiver.ready;
  const worker = startProcess('src/worker.ts', { ...workerEnv(env, service, door), ...more });
  await worker.ready;
  /** Ends both, as a deploy does, so that the spans in hand are sent. Returns their exit codes. */
  const stop = (): Promise<(number | null)[]> => {
    for (const each of [receiver, worker]) each.kill('SIGTERM');
    return Promise.all([receiver.exited, worker.exited]);
  };
  return { temporal, env, stop };
}

type Installation = Awaited<ReturnType<typeof startInstallation>>;

/** Runs an order to its end by the command line. */
async function run(env: Env, input: object) {
  const args = ['order', 'start', 'withdraw', '-', '--wait'];
  const { exited, stderr } = startProcess('src/starter.ts', env, { args, stdin: JSON.stringify(input) });
  return { code: await exited, stderr: stderr() };
}

afterAll(() => endProcesses());

describe('with a collector', () => {
  const OF_COLLECTOR = 'zz-token-of-the-collector';
  const WALLET = '5555555555554444';
  const CARD_IN_ID = '4242424242424242';
  const EMAIL = 'zz-payer@example.com';

  let collector: Collector;
  let installation: Installation;
  const ids = { paid: newOrderId('traced'), unclear: newOrderId('traced'), secret: newOrderId('traced') };
  let runId = '';

  /** Starts an order bare, past every check of ours, under an id that is a card. */
  async function startBare(): Promise<void> {
    const { nativeConnection: connection, namespace } = installation.temporal;
    const { workflow } = new Client({ connection, namespace });
    const options = { taskQueue: 'payment-orders', workflowId: `order:default:${CARD_IN_ID}` };
    const handle = await workflow.start('withdraw', { ...options, args: [orderInput('withdraw', CARD_IN_ID)] });
    await handle.result().catch(() => undefined);
  }

  beforeAll(async () => {
    collector = await startCollector();
    const traced = { ...tracedBy(collector.url), OTEL_EXPORTER_OTLP_HEADERS: `authorization=${OF_COLLECTOR}` };
    installation = await startInstallation(traced);
    const { env, temporal } = installation;
    const secret = {
      ...orderInput('withdraw', ids.secret, { marker: 'create=500-before' }).order,
      wallet: WALLET,
      client_info: { client_id: 'zz-client', client_ip: '203.0.113.77', client_email: EMAIL },
    };
    // The first one alone: look-ups of several orders may be one request, in the trace of one of them.
    const first = await run(env, orderInput('withdraw', ids.paid));
    const others = await Promise.all([
      run(env, orderInput('withdraw', ids.unclear, { marker: 'create=500-before' })),
      run(env, { order: secret }),
      startBare(),
      // What got no clear answer is sent again since the service shows this one, which is sent later.
      sleep(5_000).then(() => run(env, orderInput('withdraw', newOrderId('traced')))),
    ]);
    expect([first, ...others].flatMap((end) => (end && end.code !== 0 ? [end.stderr] : []))).toEqual([]);
    ({ runId } = await temporal.client.workflow.getHandle(orderWorkflowId('default', ids.paid)).describe());
    expect(await installation.stop()).toEqual([0, 0]);
  });
  afterAll(async () => {
    await collector?.close();
    await installation?.temporal.close();
  });

  test('the trace of an order has its run id, and shows activities, requests and what became of creates', () => {
    const bytes = collector.received();
    expect(bytes.includes(Buffer.from(runId.replaceAll('-', ''), 'hex'))).toBe(true);
    for (const text of [
      ...['payment-orders-worker', 'RunActivity:createOrder', 'RunActivity:lookUpOrder', 'POST /v2/order/withdraw'],
      ...['verdict', 'uncertain', 'accepted', 'permission', 'absent', orderWorkflowId('default', ids.paid)],
    ])
      expect(bytes.includes(text), text).toBe(true);
  });

  test('no span carries a wallet, a payer, a key, a signature or the token of a callback, and none a message', () => {
    const text = collector.received().toString('latin1');
    expect(text).toContain(OF_COLLECTOR);
    const inSpans = text.replaceAll(OF_COLLECTOR, '');
    for (const secret of [
      WALLET,
      CARD_IN_ID,
      '4111111111111111',
      EMAIL,
      'zz-client',
      '203.0.113.77',
      'sandbox-key',
      'sandbox-secret',
      TOKEN_KEY,
    ]) {
      expect(inSpans).not.toContain(secret);
    }
    expect(inSpans).not.toMatch(/[0-9a-f]{64}|callbacks\/default|Signature|sandbox create|exception/);
  });
});

test('without a collector a history has no header and no more bytes', async () => {
  const { env, temporal } = await startInstallation();
  const orderId = newOrderId('untraced');
  const { code, stderr } = await run(env, orderInput('withdraw', orderId));
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  const handle = temporal.client.workflow.getHandle(orderWorkflowId('default', orderId));
  const { events = [] } = await handle.fetchHistory();
  const headers = (events ?? []).flatMap(
    ({
      workflowExecutionStartedEventAttributes: start,
      activityTaskScheduledEventAttributes: activity,
      workflowExecutionSignaledEventAttributes: signal,
    }) => [start, activity, signal].flatMap((attributes) => Object.keys(attributes?.header?.fields ?? {})),
  );
  expect(headers).toEqual([]);
  expect((await handle.describe()).historySize).toBeLessThanOrEqual(6_700);
  await temporal.close();
});

describe('a collector that does not take spans', () => {
  test.for(['down', 'hanging'])('%s: orders end as ever, and the worker too', async (kind) => {
    const hanging = await startCollector({ hangs: true });
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as { port: number };
    closed.close();
    const url = kind === 'hanging' ? hanging.url : `http://127.0.0.1:${port}`;
    const own = await startInstallation({ ...tracedBy(url), OTEL_EXPORTER_OTLP_TIMEOUT: '500' });
    expect((await run(own.env, orderInput('withdraw', newOrderId(kind)))).code).toBe(0);
    const fromMs = performance.now();
    expect(await own.stop()).toEqual([0, 0]);
    expect(performance.now() - fromMs).toBeLessThan(15_000);
    await hanging.close();
    await own.temporal.close();
  });
});
