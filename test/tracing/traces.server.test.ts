import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type WorkflowClientInterceptor } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Collector, pathsOf, type SentSpan, startCollector } from '../../scripts/trace/collector.js';
import { traceHeaders } from '../../src/contract/trace.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { type Env, endProcesses, TOKEN_KEY } from '../worker/process.fixture.js';
import { type Installation, starter, startInstallation, tracedBy } from './traces.fixture.js';

const WAIT = ['order', 'start', 'withdraw', '-', '--wait'];
const OF_COLLECTOR = 'zz-token-of-the-collector';
const WALLET = '5555555555554444';
const CARD_IN_ID = '4242424242424242';
const EMAIL = 'zz-payer@example.com';

let collector: Collector;
let installation: Installation;
let spans: SentSpan[];
const ids = { paid: newOrderId('traced'), settled: newOrderId('traced'), secret: newOrderId('traced') };

/** The spans of an order's trace. */
const traceOf = (orderId: string): SentSpan[] => {
  const run = spans.find(
    ({ name, attributes }) =>
      name === 'RunWorkflow:withdraw' && attributes.temporalWorkflowId === `order:default:${orderId}`,
  );
  return spans.filter(({ traceId }) => traceId === run?.traceId).sort((a, b) => a.startMs - b.startMs);
};

/** The span of a backend that traces in its own way. */
const BACKEND = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };

/** Starts an order bare, past every check of ours, under an id that is a card; the header is that of Temporal's own interceptors. */
async function startBare(): Promise<void> {
  const { nativeConnection: connection, namespace } = installation.temporal;
  const passOn: WorkflowClientInterceptor = {
    startWithDetails: (input, next) => next({ ...input, headers: traceHeaders(BACKEND) }),
  };
  const { workflow } = new Client({ connection, namespace, interceptors: { workflow: [passOn] } });
  const options = { taskQueue: 'payment-orders', workflowId: `order:default:${CARD_IN_ID}` };
  const handle = await workflow.start('withdraw', { ...options, args: [orderInput('withdraw', CARD_IN_ID)] });
  await handle.result().catch(() => undefined);
}

beforeAll(async () => {
  collector = await startCollector();
  const traced: Env = { ...tracedBy(collector), OTEL_EXPORTER_OTLP_HEADERS: `authorization=${OF_COLLECTOR}` };
  installation = await startInstallation(traced);
  const env = { ...installation.env, ...traced };
  const secret = {
    ...orderInput('withdraw', ids.secret, { marker: 'create=500-before' }).order,
    wallet: WALLET,
    client_info: { client_id: 'zz-client', client_ip: '203.0.113.77', client_email: EMAIL },
  };
  // The first one alone: look-ups of several orders may be one request, in the trace of one of them.
  const first = await starter(env, WAIT, orderInput('withdraw', ids.paid));
  const others = await Promise.all([
    starter(env, WAIT, orderInput('withdraw', ids.settled, { marker: 'create=500-before' })),
    starter(env, WAIT, { order: secret }),
    startBare(),
    // What got no clear answer is sent again since the service shows this one, which is sent later.
    sleep(5_000).then(() => starter(env, WAIT, orderInput('withdraw', newOrderId('traced')))),
  ]);
  expect([first, ...others].flatMap((end) => (end && end.code !== 0 ? [end.stderr] : []))).toEqual([]);
  expect(await installation.stop()).toEqual([0, 0]);
  spans = collector.spans();
});
afterAll(async () => {
  await endProcesses();
  await collector?.close();
  await installation?.temporal.close();
});

describe('the trace of an order that is learned by a callback', () => {
  /** What a worker asks once for all orders. */
  const ONCE = /POST \/v2\/(?:rates|balances)$/;
  const WORKFLOW = 'payment-orders order start > StartWorkflow:withdraw > RunWorkflow:withdraw';

  test('is one, from the command line to the requests, each below what made it', () => {
    const trace = traceOf(ids.paid);
    const paths = pathsOf(trace).filter((path) => path.startsWith(WORKFLOW) && !ONCE.test(path));
    expect([...new Set(paths)].sort()).toEqual(
      [
        '',
        ' > RunActivity:createOrder',
        ' > RunActivity:createOrder > POST /v2/order/list',
        ' > RunActivity:createOrder > POST /v2/order/withdraw',
        ' > HandleMessage:orderCallback',
        ' > RunActivity:lookUpOrder',
        ' > RunActivity:lookUpOrder > POST /v2/order/status',
      ]
        .map((below) => WORKFLOW + below)
        .sort(),
    );
    expect(pathsOf(trace).filter((path) => path.includes('nobody'))).toEqual([]);
    expect(trace.filter(({ parentId }) => !parentId).map(({ name }) => name)).toEqual(['payment-orders order start']);
  });

  test('names its processes, what became of each step, and is linked to the trace of the callback', () => {
    const trace = traceOf(ids.paid);
    const [start, run, create, sent, heard] = [
      'payment-orders order start',
      'RunWorkflow:withdraw',
      'RunActivity:createOrder',
      'POST /v2/order/withdraw',
      'HandleMessage:orderCallback',
    ].map((wanted) => trace.find(({ name }) => name === wanted));
    expect(start).toMatchObject({ service: 'payment-orders', failed: false });
    expect(run).toMatchObject({ service: 'payment-orders-worker', attributes: { outcome: 'completed' } });
    expect(create?.attributes).toMatchObject({ attempt: 1, permission: 'first', verdict: 'accepted' });
    expect(sent?.attributes).toMatchObject({
      'http.request.method': 'POST',
      'url.path': '/v2/order/withdraw',
      'http.response.status_code': 200,
      operation: 'order/withdraw',
      attempt: 1,
    });
    const signal = spans.find(({ spanId }) => spanId === heard?.links[0]?.spanId);
    expect(signal).toMatchObject({ service: 'payment-orders-receiver', name: 'SignalWorkflow:orderCallback' });
    // From its start to its end, with everything that it did in between.
    expect(run?.startMs).toBeLessThanOrEqual(create?.startMs ?? 0);
    expect(run?.endMs).toBeGreaterThanOrEqual(
      Math.max(...trace.filter(({ name }) => /^(RunActivity|POST)/.test(name)).map(({ endMs }) => endMs)) - 50,
    );
  });

  test('shows the failed create, the readings that proved it absent, and the attempt that came through', () => {
    const trace = traceOf(ids.settled);
    const creates = trace.filter(({ name }) => name === 'RunActivity:createOrder');
    expect(creates.map(({ attributes: { permission, verdict } }) => [permission, verdict])).toEqual([
      ['first', 'uncertain'],
      ['absent', 'accepted'],
    ]);
    const sent = trace.filter(({ name }) => name === 'POST /v2/order/withdraw');
    expect(
      sent.map(({ parentId, failed, attributes }) => [parentId, failed, attributes['http.response.status_code']]),
    ).toEqual([
      [creates[0]?.spanId, true, 500],
      [creates[1]?.spanId, false, 200],
    ]);
    expect(trace.filter(({ name }) => name === 'RunActivity:lookUpOrder').length).toBeGreaterThanOrEqual(3);
  });
});

test('no span carries a wallet, a payer, a key, a signature or the token of a callback, and none a message', () => {
  expect(spans.length).toBeGreaterThan(30);
  const text = collector.received().toString('latin1');
  expect(text).toContain(OF_COLLECTOR);
  const inSpans = JSON.stringify(spans) + text.replaceAll(OF_COLLECTOR, '');
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
  expect(inSpans).not.toMatch(/[0-9a-f]{64}|callbacks\/default|Signature|sandbox create/);
  expect(spans.filter(({ events }) => events > 0)).toEqual([]);
});

test('a backend’s own trace is continued, and an id that is a card is masked', () => {
  const run = spans.find(({ traceId, name }) => traceId === BACKEND.traceId && name === 'RunWorkflow:withdraw');
  expect(run).toMatchObject({ parentId: BACKEND.spanId, failed: true, attributes: { outcome: 'InvalidOrder' } });
  expect(run?.attributes.temporalWorkflowId).toMatch(/^order:default:.*\*\*\*\*/);
});
