import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/index.js';
import type { OrderHandle } from '../../src/client/order-handle.js';
import { PaymentOrders } from '../../src/client.js';
import type { Decision } from '../../src/contract/order/messages.js';
import type { CreateRequests } from '../../src/contract/order/request.js';
import { APPROVERS_FILE, KEYS } from '../support/approvers.js';
import { newFolder } from '../support/batch-files.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { type Env, type Process, startProcess, temporalEnv, useProcesses, workerEnv } from './process.fixture.js';

/* Two workers of one account during a rolling change: only one has protective settings. */

vi.setConfig({ testTimeout: 120_000 });

const folder = newFolder(afterAll);
let sandbox: Sandbox;
afterAll(() => sandbox?.close());
const temporal = useProcesses();
let orders: PaymentOrders;
let strict: Process;
let lax: Process;
let strictEnv: Env;
let laxEnv: Env;
beforeAll(async () => {
  sandbox = await startSandbox({ timeScale: 0.2 });
  orders = new PaymentOrders(temporal.client);
  const approvers = join(folder, 'approvers.json');
  writeFileSync(approvers, JSON.stringify(APPROVERS_FILE), { mode: 0o600 });
  const common = { ...workerEnv(temporalEnv(temporal), sandbox.url), METRICS_ADDRESS: '127.0.0.1:0' };
  laxEnv = {
    ...common,
    ORDER_SETTLE_WINDOW: '2s',
    PAYMENT_NOT_EXECUTED_STATUSES: '429',
  };
  strictEnv = {
    ...common,
    ORDER_SETTLE_WINDOW: '15s',
    PAYMENT_ORDER_CAPS: '{"usd": "20"}',
    APPROVERS_FILE: approvers,
    BATCH_DIR: folder,
  };
  [lax, strict] = [startProcess('src/worker.ts', laxEnv), startProcess('src/worker.ts', strictEnv)];
  // Nothing else is waited for: orders start at once.
  await Promise.all([lax.ready, strict.ready]);
}, 120_000);

const WITHIN = { timeout: 90_000, interval: 200 };

async function page(worker: Process, path: string): Promise<string> {
  const { metrics = '' } = await worker.ready;
  return (await fetch(`${metrics}${path}`)).text();
}

const executed = (orderId: string): number => sandbox.stats().executedByOrderId[orderId] ?? 0;

/** Starts payouts of an amount, whose fate the marker decides. */
const startMany = (count: number, amount: string, marker: string): Promise<OrderHandle[]> =>
  Promise.all(
    Array.from({ length: count }, () => {
      const input = orderInput('withdraw', newOrderId('differing'), { marker });
      return orders.start('withdraw', { ...input, order: { ...input.order, amount } as CreateRequests['withdraw'] });
    }),
  );

test('no order above the cap is sent, and none approved without a signature, because one worker asks for neither', async () => {
  const handles = await startMany(20, '21', '');
  await vi.waitUntil(async () => {
    const states = await Promise.all(handles.map((handle) => handle.state()));
    return states.every(({ phase, order }) => phase === 'parked' || order);
  }, WITHIN);
  expect(handles.filter(({ orderId }) => executed(orderId) > 0)).toEqual([]);

  const approve = async (handle: OrderHandle, by: string, signer?: typeof KEYS.ann) => {
    const { revision, attention: { amount, currency } = {} } = await handle.state();
    const decision: Decision = { action: 'approve', by, reason: 'as agreed', revision, amount, currency };
    return handle.decide(decision, signer && { signer });
  };
  const unsigned = await Promise.allSettled(handles.map((handle) => approve(handle, 'Ann Smith')));
  expect(unsigned.filter(({ status }) => status === 'fulfilled')).toEqual([]);
  expect(handles.filter(({ orderId }) => executed(orderId) > 0)).toEqual([]);

  await Promise.all(handles.map((handle) => approve(handle, 'Ann Smith', KEYS.ann)));
  const results = await Promise.all(handles.map((handle) => handle.result()));
  expect(results.map(({ decisions }) => decisions?.[0]?.keyId)).toEqual(handles.map(() => expect.any(String)));
});

test.for([
  ['a short settle window', 'create=500-after'],
  ['a status that it takes for "not executed"', 'create=429-after'],
])('no order is paid twice because one worker has %s', async ([, fault]) => {
  const handles = await startMany(16, '12.50', `${fault} lag_ms=7000 duplicate=c`);
  const results = await Promise.all(handles.map((handle) => handle.result()));
  expect(results.map(({ outcome }) => outcome)).toEqual(handles.map(() => 'completed'));
  expect(handles.map(({ orderId }) => executed(orderId))).toEqual(handles.map(() => 1));
});

test('no batch is planned without an approval because one worker asks for none', async () => {
  const batchOf = () => {
    const rows = [orderInput('withdraw', newOrderId('row')).order];
    return orders.batches.start({ rows, batchId: newOrderId('batch'), startedBy: 'Cid Low' });
  };
  const started = await Promise.all(Array.from({ length: 6 }, batchOf));
  const ends = await Promise.allSettled(started.map((batch) => batch.result()));
  expect(ends.filter(({ status }) => status === 'fulfilled')).toEqual([]);
});

const SHOWN = `payment_orders_check{check="worker-settings",account="default",level="error"} 1`;
const VARIABLES = /other settings \(ORDER_SETTLE_WINDOW or ORDER_CONFIRM_DELAY, PAYMENT_ORDER_CAPS, APPROVERS_FILE, /;

test('both workers and the doctor say in which settings they differ, until they are the same', async () => {
  for (const worker of [strict, lax]) {
    await vi.waitUntil(async () => (await page(worker, '/metrics')).includes(SHOWN), WITHIN);
    expect(await page(worker, '/readyz')).toContain('\nerror worker-settings:default\n');
    expect(worker.stderr()).toMatch(VARIABLES);
  }
  const doctor = startProcess('src/starter.ts', laxEnv, { args: ['doctor', '--json'] });
  await doctor.exited;
  const { findings } = JSON.parse(doctor.stdout()) as { findings: { check: string; level: string; text: string }[] };
  const found = findings.filter(({ check }) => check === 'worker-settings');
  expect(found).toEqual([expect.objectContaining({ level: 'warning', text: expect.stringMatching(VARIABLES) })]);
});
