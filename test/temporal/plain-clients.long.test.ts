import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { afterEach, expect, test } from 'vitest';
import { PaymentOrders } from '../../src/client.js';
import { dataConverter, warnOfPlainPayloads } from '../../src/temporal.js';
import { startBatchWorker } from '../reliability/killable-workers.fixture.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { accountsEnv, endProcesses, type Process, startProcess, temporalEnv } from '../worker/process.fixture.js';
import { useBatchLab } from '../workflows/batch/batches.fixture.js';
import { foundIn, keyOf } from './stored-bytes.fixture.js';
import { SECRETS, useEverything } from './use-everything.fixture.js';

const KEY = keyOf('2026-11');
const PLAIN_ORDERS = 5;

const lab = useBatchLab({ encryptionKeys: [KEY], workers: false });
// The next test's worker must be the only one.
afterEach(endProcesses);

const WITH_KEY = { PAYLOAD_ENCRYPTION_KEYS: `${KEY.id}:${KEY.key.export().toString('base64')}` };

interface LogLine {
  level: number;
  msg: string;
  workflowId?: string;
}

/** What a worker logged about plain payloads. */
const warningsOf = (worker: Process): LogLine[] =>
  worker
    .stderr()
    .split('\n')
    .filter((line) => line.includes('not encrypted'))
    .map((line) => JSON.parse(line) as LogLine);

const workflowOf = (orderId: string) => lab.temporal.client.workflow.getHandle(`order:default:${orderId}`);

/** The process that the server names as the one that started an order. */
async function startedBy(orderId: string): Promise<string | null | undefined> {
  const { events } = await workflowOf(orderId).fetchHistory();
  return events?.[0]?.workflowExecutionStartedEventAttributes?.identity;
}

test('a worker with keys is silent while everybody has them, and tells once when a client without them starts orders', async () => {
  const worker = startBatchWorker(lab, { ...WITH_KEY, ORDER_CONFIRM_DELAY: '100ms' });
  await worker.ready;
  await useEverything(lab);
  expect(warningsOf(worker)).toEqual([]);

  const { connection } = lab.temporal.client;
  const identity = 'the backend without keys';
  const options = { connection, namespace: lab.temporal.namespace, identity, dataConverter: dataConverter() };
  const without = new PaymentOrders(new Client(options));
  const ids = Array.from({ length: PLAIN_ORDERS }, () => newOrderId('plain'));
  await Promise.all(ids.map((id) => without.start('withdraw', orderInput('withdraw', id))));
  const ends = await Promise.all(ids.map((id) => lab.orders.order(id).result()));
  expect(ends).toMatchObject(ids.map(() => ({ outcome: 'completed', adopted: false })));

  const warnings = warningsOf(worker);
  expect(warnings).toMatchObject([{ level: 40, msg: expect.stringContaining('Set PAYLOAD_ENCRYPTION_KEYS in every') }]);
  const orderId = warnings[0]?.workflowId?.replace('order:default:', '') ?? '';
  expect(ids).toContain(orderId);
  expect(await startedBy(orderId)).toBe(identity);
  expect(foundIn(Buffer.from(JSON.stringify(warnings)), SECRETS)).toEqual([]);
});

test("the server's own word about a create that no worker had yet is not told as a plain payload", async () => {
  // It runs the workflows of all accounts, and creates of its own one.
  const accounts = join(lab.folder, 'accounts.json');
  const other = { apiKey: 'sandbox-key', apiSecret: 'sandbox-secret', signer: 'hmac-sha256' };
  await writeFile(accounts, JSON.stringify({ other: { baseUrl: lab.sandbox.url, ...other } }), { mode: 0o600 });
  const worker = startProcess('src/worker.ts', {
    ...accountsEnv(temporalEnv(lab.temporal), accounts),
    ...WITH_KEY,
  });
  await worker.ready;
  const cancelled = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('cancelled')));
  await expect.poll(() => lab.events(cancelled.orderId), { timeout: 20_000 }).toBeGreaterThan(4);
  await workflowOf(cancelled.orderId).cancel();
  await expect(cancelled.result()).rejects.toMatchObject({ type: 'OrderCancelled' });
  const { events } = await workflowOf(cancelled.orderId).fetchHistory();
  const details = events?.flatMap((event) => event.activityTaskCanceledEventAttributes?.details?.payloads ?? []);
  expect(details?.map(({ data }) => Buffer.from(data ?? []).toString())).toEqual(['"ACTIVITY_ID_NOT_STARTED"']);
  expect(warningsOf(worker)).toEqual([]);
});

test('while plain payloads go on coming it is told again every minute', () => {
  let nowMs = 0;
  const told: number[] = [];
  const onPlain = warnOfPlainPayloads(
    () => told.push(nowMs),
    () => nowMs,
  );
  for (; nowMs <= 120_000; nowMs += 500) onPlain('order:default:x');
  expect(told).toEqual([0, 60_000, 120_000]);
});
