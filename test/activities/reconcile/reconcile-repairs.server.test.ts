import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { NotDecidedYetError } from '../../../src/client/errors.js';
import { PaymentOrders } from '../../../src/client.js';
import { RECONCILE_WORKFLOW } from '../../../src/contract/names.js';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../../support/lab.js';
import { runStarterWith } from '../../support/run-starter.js';
import { parkedFor } from '../../workflows/compensation/parked-orders.fixture.js';

const HOUR_MS = 3_600_000;
/** 72 h, and 26 h on each side, of which those to come belong to the last day. */
const DAYS = 5;

let lab: Lab;
beforeAll(async () => {
  // Nothing but a callback would wake an order within the test, and there are none.
  lab = await openLab({ quiet: true, callbacks: false, pace: { pollInitialMs: HOUR_MS, pollMaxMs: HOUR_MS } });
});
afterAll(() => lab?.close());

const finalAtService = (orderId: string) =>
  vi.waitUntil(
    () => lab.sandbox.orders().some(({ order }) => order.user_order_id === orderId && order.finalized_at !== null),
    { timeout: 60_000 },
  );

/** Runs the starter against the lab's namespace. */
async function starter(
  ...argv: string[]
): Promise<{ exitCode: number; json: Record<string, unknown>; stderr: string }> {
  const connect = async () => new PaymentOrders(lab.temporal.client);
  const { code: exitCode, stdout, stderr } = await runStarterWith(connect, [...argv, '--json']);
  return { exitCode, json: stdout ? JSON.parse(stdout) : {}, stderr };
}

test('an order that waits while it is final at the service is woken, once', async () => {
  const orderId = newOrderId('sleeping');
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId));
  await finalAtService(orderId);
  // One window for each day: the balances agreed, so that nothing had to be read twice.
  expect(await lab.orders.reconcile()).toMatchObject({ windows: DAYS, gapCount: 0, classes: { woken: 1 } });
  expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  expect((await lab.orders.reconcile()).classes).toMatchObject({ woken: 0 });
});

test('an order that waits for a decision is left alone: it knows its end', async () => {
  const orderId = newOrderId('deciding');
  const marker = 'after_ms=20 outcome=completed_partially fraction=0.4';
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker, compensation: 'ask' }));
  await finalAtService(orderId);
  await lab.orders.reconcile();
  const { revision } = await parkedFor(handle);
  expect((await lab.orders.reconcile()).classes).toMatchObject({ woken: 0, open: 0 });
  expect(await handle.state()).toMatchObject({ phase: 'parked', revision });
  await handle.decide({ action: 'accept', by: 'ann', reason: 'enough', revision });
  await handle.result();
});

test('a service that fails at every third request is read to the end, in one attempt', async () => {
  lab.sandbox.set({ faults: { 'list.503': 0.3, 'balances.500': 0.3, 'list.429': 0.1 } });
  const { seen, notes } = await lab.orders.reconcile();
  lab.sandbox.set({ faults: {} });
  expect({ seen, notes }).toEqual({ seen: lab.sandbox.orders().length, notes: [] });
  const { events } = await lab.temporal.client.workflow.getHandle('reconcile:default').fetchHistory();
  const attempts = events?.flatMap(({ activityTaskStartedEventAttributes: started }) => started?.attempt ?? []);
  expect(new Set(attempts)).toEqual(new Set([1]));
});

describe('two at the same time', () => {
  test('are one run when they ask for the same', async () => {
    const runs = async () => (await lab.temporal.client.workflow.count(`WorkflowType = '${RECONCILE_WORKFLOW}'`)).count;
    const before = await runs();
    const [first, second] = await Promise.all([lab.orders.reconcile(), lab.orders.reconcile()]);
    expect(second).toEqual(first);
    await vi.waitUntil(async () => (await runs()) === before + 1);
  });

  test('are refused when they ask for something else', async () => {
    lab.sandbox.set({ faults: { 'balances.503': 1 } });
    const first = lab.orders.reconcile();
    const { workflow } = lab.temporal.client;
    const isRunning = async () => (await workflow.getHandle('reconcile:default').describe()).status.name === 'RUNNING';
    await vi.waitUntil(isRunning, { timeout: 60_000 });
    await expect(lab.orders.reconcile({ recover: true })).rejects.toThrow(NotDecidedYetError);
    lab.sandbox.set({ faults: {} });
    await first;
  });
});

describe('the command line', () => {
  test('exits 0 when everything agrees, and says on stderr what it is doing', async () => {
    const { exitCode, json, stderr } = await starter('reconcile');
    expect(exitCode).toBe(0);
    expect(json).toMatchObject({ result: { account: 'default', gapCount: 0 } });
    expect(stderr).toContain('waiting for a worker');
  });

  test('exits 1 when something needs a person', async () => {
    const orderId = newOrderId('slow');
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker: 'after_ms=600000' }));
    await handle.created();
    const { exitCode, json } = await starter('reconcile', '--open-too-long', '1ms');
    expect(exitCode).toBe(1);
    expect(json).toMatchObject({
      disagreement: 'openTooLong 1',
      result: { disagreements: [{ class: 'openTooLong', order_id: orderId, status: 'processing' }] },
    });
  });

  test.for([
    [['--from', 'yesterday'], 'from'],
    [['--from', '2026-11-03 00:00:00', '--to', '2026-11-02 00:00:00'], 'from'],
  ] as const)('exits 2 on %j and starts nothing', async ([options, named]) => {
    const { exitCode, json } = await starter('reconcile', ...options);
    expect(exitCode).toBe(2);
    expect(JSON.stringify(json)).toContain(named);
  });
});

test('a start without our client is checked, too', async () => {
  const start = (workflowId: string, args: unknown[]) =>
    lab.temporal.client.workflow.execute(RECONCILE_WORKFLOW, { workflowId, taskQueue: 'payment-orders', args });
  await expect(start('reconcile:default', [{ form: '2026-11-02' }])).rejects.toMatchObject({
    cause: { type: 'InvalidInput', message: expect.stringContaining('form: unknown field') },
  });
  await expect(start('reconcile:other', [])).rejects.toMatchObject({ cause: { type: 'InvalidInput' } });
});
