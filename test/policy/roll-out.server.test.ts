import { NativeConnection } from '@temporalio/worker';
import { afterEach, expect, test, vi } from 'vitest';
import { type Policy, Secret, type WorkerConfig } from '../../src/config.js';
import type { PolicyRule } from '../../src/contract/policy/rules.js';
import { publishedFor } from '../../src/temporal/published.js';
import { createWorkers } from '../../src/worker/start-worker.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { workflowBundle } from '../support/temporal.js';
import { openUngrouped } from '../support/ungrouped.js';
import { executions, parkedFor, startSteered } from '../workflows/compensation/parked-orders.fixture.js';

/* A worker without rules beside one with POLICY_FILE. */

const payeeKey = new Secret('0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978');
const lab = useLab({ workers: false });
vi.setConfig({ testTimeout: 120_000 });

const live = new Map<string, { config: WorkerConfig; stop: () => Promise<void> }>();
afterEach(async () => {
  for (const { stop } of [...live.values()]) await stop();
});

/** Starts a worker that sees the settings of the others. */
async function startWorker(
  identity: string,
  rules: readonly PolicyRule[],
  key: Pick<Policy, 'payeeKey'> = { payeeKey },
): Promise<() => Promise<void>> {
  const policies = new Map<string, Policy>([['default', { rules, ...key }]]);
  const config: WorkerConfig = rules.length > 0 ? { ...lab.config, policies } : lab.config;
  const others = () =>
    [...live].flatMap(([name, other]) => (name === identity ? [] : [publishedFor(other.config, 'default')]));
  const connection = await NativeConnection.connect({ address: lab.temporal.address });
  const workers = await createWorkers(
    config,
    { connection, namespace: lab.temporal.namespace, identity, live: { others } },
    { workflowBundle: workflowBundle(), debugMode: true },
    await openUngrouped(config.accounts),
  );
  const runs = workers.map((one) => one.run());
  const stop = async () => {
    live.delete(identity);
    for (const one of workers) one.shutdown();
    await Promise.all(runs);
    await connection.close().catch(() => undefined);
  };
  live.set(identity, { config, stop });
  return stop;
}

const pay = (amount: string, currency: string, payee: { wallet?: string } = {}) =>
  startSteered(lab, 'withdraw', { marker: '', compensation: 'report', order: { amount, currency, ...payee } });
const sums = () => lab.temporal.client.workflow.getHandle('policy:default');
const areRunning = () =>
  sums()
    .describe()
    .then(({ status }) => status.name === 'RUNNING')
    .catch(() => false);

/** Waits until the sums are read, and returns by whom. */
async function readBy(): Promise<string> {
  const events = () =>
    sums()
      .fetchHistory()
      .then((history) => history.events ?? []);
  const isRead = async () => (await events()).some((one) => one.activityTaskCompletedEventAttributes);
  await vi.waitUntil(isRead, 60_000);
  const started = (await events()).find((one) => one.activityTaskStartedEventAttributes);
  return started?.activityTaskStartedEventAttributes?.identity ?? '';
}

/** Makes dry runs, which either worker takes, until the sums were asked for. */
async function tryOut(currency: string): Promise<void> {
  const input = orderInput('withdraw', newOrderId('dry'));
  const order = { ...input.order, currency, amount: '2' };
  await vi.waitUntil(async () => (await lab.orders.check('withdraw', { ...input, order })) && areRunning(), 60_000);
}

test('sums of rules that were tried and taken back end, so that later rules count everything', async () => {
  const rules: PolicyRule[] = [{ rule: 'sum', per: 'day', currency: 'usd', max: '100', breach: 'park' }];
  const stopPlain = await startWorker('plain', []);
  await (await pay('2', 'usd')).handle.result();
  const stopTried = await startWorker('tried', rules);
  await tryOut('usd');
  await readBy();
  await stopTried();
  await (await pay('80', 'usd')).handle.result();
  await stopPlain();
  await startWorker('fresh', rules);
  const { orderId, handle } = await pay('85', 'usd');
  await parkedFor(handle, 'the total would be 167 usd');
  expect(executions(lab, orderId)).toBe(0);
});

test('sums of payees are read by a worker that has their key', async () => {
  const rules: PolicyRule[] = [
    { rule: 'sum', per: 'day', currency: 'eur', of: 'payee', max: '100', breach: 'park' },
    { rule: 'count', max: 9, breach: 'park' },
  ];
  const stopPlain = await startWorker('plain', []);
  await (await pay('90', 'eur')).handle.result();
  await startWorker('fresh', rules);
  for (let turn = 0; turn < 3; turn += 1) {
    await sums()
      .terminate('again')
      .catch(() => undefined);
    await tryOut('eur');
    expect(await readBy()).toBe('fresh');
  }
  await stopPlain();
  const { orderId, handle } = await pay('95', 'eur');
  await parkedFor(handle, 'the total would be 185 eur');
  expect(executions(lab, orderId)).toBe(0);
});

test('a first key has the sums read again: earlier payouts to a payee count, and nothing else is held', async () => {
  const before: PolicyRule[] = [{ rule: 'sum', per: 'day', currency: 'usd', max: '10000', breach: 'park' }];
  const stopKeyless = await startWorker('keyless', before, {});
  await sums()
    .terminate('again')
    .catch(() => undefined);
  await (await pay('3', 'usd')).handle.result();
  await stopKeyless();
  await startWorker('fresh', [
    ...before,
    { rule: 'sum', per: 'day', currency: 'usd', of: 'payee', max: '87', breach: 'park' },
  ]);
  const other = await pay('4', 'usd', { wallet: '5555555555554444' });
  expect((await other.handle.result()).outcome).toBe('completed');
  const { orderId, handle } = await pay('3', 'usd');
  // 2, 80 and 3 usd were paid before.
  await parkedFor(handle, 'the total would be 88 usd');
  expect(executions(lab, orderId)).toBe(0);
});
