import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection, type ConnectionOptions } from '@temporalio/client';
import type { PayloadCodec, SearchAttributePair } from '@temporalio/common';
import { Registry } from 'prom-client';
import { expect, test, vi } from 'vitest';
import { PaymentOrders } from '../../src/client.js';
import { ATTENTION_CODES } from '../../src/contract/attention.js';
import { orderWorkflowId, searchAttribute } from '../../src/contract/names.js';
import { countVisible } from '../../src/monitoring/visibility.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { createTestNamespace } from '../support/temporal.js';
import {
  receiverEnv,
  startProcess,
  startSandboxProcess,
  temporalEnv,
  useProcesses,
  workerEnv,
} from '../worker/process.fixture.js';
import { misnamed, parsed, scrape, sumOf } from './scrape.fixture.js';

const temporal = useProcesses();

test('one scrape of a worker shows what the SDK counts and what became of orders, creates and requests', async () => {
  const env = { ...temporalEnv(temporal), METRICS_ADDRESS: '127.0.0.1:0' };
  const { service } = await startSandboxProcess();
  const { receiver: door, metrics: ofReceiver = '' } = await startProcess('src/receiver.ts', receiverEnv(env, 0)).ready;
  const worker = startProcess('src/worker.ts', {
    ...workerEnv(env, service, door),
    PAYMENT_REQUESTS_PER_SECOND: '50',
  });
  const { metrics = '' } = await worker.ready;
  const orders = new PaymentOrders(temporal.client);
  const uncertain = await orders.start(
    'withdraw',
    orderInput('withdraw', newOrderId('monitored'), { marker: 'create=500-before' }),
  );
  await vi.waitFor(async () => expect(await uncertain.state()).toMatchObject({ phase: 'uncertain' }), 60_000);
  // It is sent again since the service shows this one, which was sent later by more than a fifth of a window.
  await sleep(1_000);
  const paid = await orders.start('withdraw', orderInput('withdraw', newOrderId('monitored')));
  expect((await paid.result()).outcome).toBe('completed');
  expect((await uncertain.result()).outcome).toBe('completed');
  await vi.waitFor(async () => {
    const series = await scrape(metrics);
    const sum = (name: string, labels?: Record<string, string>) => sumOf(series, name, labels);
    const withdraw = { type: 'withdraw', account: 'default' };
    expect(sum('payment_orders_ended_total', { ...withdraw, outcome: 'completed' })).toBe(2);
    const attempts = 'payment_orders_create_attempts_total';
    expect(sum(attempts, { ...withdraw, permission: 'first', verdict: 'accepted' })).toBe(1);
    expect(sum(attempts, { ...withdraw, permission: 'first', verdict: 'uncertain' })).toBe(1);
    expect(sum(attempts, { ...withdraw, permission: 'absent', verdict: 'accepted' })).toBe(1);
    expect(sum('payment_orders_callback_to_final_seconds_count', { account: 'default' })).toBe(2);
    const requests = 'payment_service_request_seconds_count';
    expect(sum(requests, { account: 'default', operation: 'order/withdraw', answer: '200' })).toBe(2);
    expect(sum(requests, { account: 'default', operation: 'order/withdraw', answer: '5xx' })).toBe(1);
    expect(sum('payment_service_limit_requests_per_second', { account: 'default' })).toBeGreaterThan(0);
    expect(sum('temporal_workflow_completed', { workflow_type: 'withdraw' })).toBe(2);
    expect(sum('payment_orders_counted_timestamp_seconds')).toBeGreaterThan(0);
    expect(JSON.stringify([...series.keys()])).not.toMatch(/order:default|4111/);
    expect(await misnamed(series)).toEqual([]);
  }, 30_000);
  const callbacks = await scrape(ofReceiver);
  expect(sumOf(callbacks, 'payment_callbacks_total', { answer: 'delivered' })).toBeGreaterThanOrEqual(2);
  expect(await misnamed(callbacks)).toEqual([]);
});

test('open orders, orders that need a person and stopped ones are counted from Temporal’s list, and leave it again', async () => {
  const registry = new Registry();
  const own = await createTestNamespace();
  const stop = countVisible(own.client, registry, 500);
  try {
    const orders = new PaymentOrders(own.client);
    // Nobody runs it: so it stays open.
    const order = await orders.start('withdraw', orderInput('withdraw', newOrderId('monitored')));
    const values = async () => {
      const text = await registry.metrics();
      return ['payment_orders_open{status="open",age="1h"}', 'payment_orders_terminated'].map((name) =>
        Number(
          text
            .split('\n')
            .find((line) => line.startsWith(`${name} `))
            ?.split(' ')
            .at(-1),
        ),
      );
    };
    await vi.waitFor(async () => expect(await values()).toEqual([1, 0]), 20_000);
    await own.client.workflow.getHandle(order.workflowId).terminate('a test');
    await vi.waitFor(async () => expect(await values()).toEqual([0, 1]), 20_000);
  } finally {
    stop();
    await own.close();
  }
});

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

/** A client whose requests `calls` counts. */
async function countedClient(namespace: string, calls: string[]): Promise<Client> {
  const counting: Interceptor = (options, next) => {
    calls.push(options.method_definition.path);
    return next(options) as ReturnType<Interceptor>;
  };
  const connection = await Connection.connect({ address: temporal.address, interceptors: [counting] });
  return new Client({ connection, namespace });
}

test('those that wait for a person are counted by reason, with as many requests as when nobody waits', async () => {
  const own = await createTestNamespace();
  const calls: string[] = [];
  const client = await countedClient(own.namespace, calls);
  const start = (type: string, workflowId: string, typedSearchAttributes: SearchAttributePair[]) =>
    // Nobody runs it: so it stays as it was started.
    own.client.workflow.start(type, { workflowId, taskQueue: 'nobody', typedSearchAttributes });
  const wait = (reason?: string) =>
    start('withdraw', orderWorkflowId('default', newOrderId('waits')), [
      { key: searchAttribute.needsAttention, value: true },
      { key: searchAttribute.account, value: 'eu' },
      ...(reason === undefined ? [] : [{ key: searchAttribute.attentionReason, value: reason }]),
    ]);
  /** What one round of counts shows, and the requests that it takes. */
  const counted = async () => {
    calls.length = 0;
    const registry = new Registry();
    const stop = countVisible(client, registry);
    try {
      const series = await vi.waitFor(async () => {
        const now = parsed(await registry.metrics());
        expect(sumOf(now, 'payment_orders_counted_timestamp_seconds')).toBeGreaterThan(0);
        return now;
      }, 20_000);
      expect(await misnamed(series)).toEqual([]);
      const reasons = [...series].filter(([key]) => key.startsWith('payment_orders_attention'));
      return { reasons: Object.fromEntries(reasons), requests: calls.length };
    } finally {
      stop();
    }
  };
  const ofReason = (reason: string, value: number) => ({
    [`payment_orders_attention{reason="${reason}",account="eu"}`]: value,
  });
  try {
    expect(await counted()).toEqual({ reasons: {}, requests: 14 });
    await Promise.all([...ATTENTION_CODES, 'over-cap', 'a text of somebody’s own', undefined].map(wait));
    const one = ATTENTION_CODES.map((code) => ofReason(code, 1));
    const reasons = Object.assign({}, ...one, ofReason('over-cap', 2), ofReason('other', 2));
    await vi.waitFor(async () => expect(await counted()).toEqual({ reasons, requests: 14 }), 30_000);
    // Whoever reaches Temporal may start what no worker here can read; those that wait are counted all the same.
    const unreadable: PayloadCodec = {
      encode: async (payloads) =>
        payloads.map((one) => ({ ...one, metadata: { encoding: Buffer.from('zz/unknown') } })),
      decode: async (payloads) => payloads,
    };
    const stranger = new Client({
      connection: client.connection,
      namespace: own.namespace,
      dataConverter: { payloadCodecs: [unreadable] },
    });
    const typedSearchAttributes = [{ key: searchAttribute.needsAttention, value: true }];
    await stranger.workflow.start('zz', {
      ...{ workflowId: 'zz', taskQueue: 'nobody', typedSearchAttributes, memo: { zz: 1 } },
    });
    const all = Object.values(reasons as Record<string, number>).reduce((sum, value) => sum + value, 1);
    await vi.waitFor(async () => {
      const { reasons: found } = await counted();
      expect(Object.values(found).reduce((sum, value) => sum + value, 0)).toBe(all);
    }, 30_000);
  } finally {
    await client.connection.close();
    await own.close();
  }
});
