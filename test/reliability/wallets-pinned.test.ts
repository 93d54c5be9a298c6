import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/index.js';
import type { WorkerConfig } from '../../src/config.js';
import type { LookUpInput } from '../../src/contract/order/activities.js';
import { createWorkers } from '../../src/worker/start-worker.js';
import { attemptOf, ELSEWHERE, failureOf, openActivities, operations } from '../activities/activity-lab.fixture.js';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, openLab, workerConfigFor } from '../support/lab.js';
import { workflowBundle } from '../support/temporal.js';
import { decideNow, parkedFor } from '../workflows/compensation/parked-orders.fixture.js';
import { serviceView } from '../workflows/create/service-view.fixture.js';
import { type Line, openLine } from './line.fixture.js';

const lookUpOf = (changes: Partial<LookUpInput> = {}): LookUpInput => ({
  type: 'withdraw',
  account: 'default',
  request: orderInput('withdraw', 'w-1').order,
  ...changes,
});

test('an order pinned to another endpoint: neither look-up, poll nor create asks this one anything', async () => {
  const { sandbox, run } = await openActivities();
  const sentTo = ELSEWHERE;
  const poll = { account: 'default', orderId: 'w-1', orderUuid: 'u-1', sentTo, toleratedStatuses: [] };
  expect(await run('lookUpOrder', lookUpOf({ sentTo }))).toMatchObject({ kind: 'elsewhere' });
  expect(await failureOf(run('pollOrder', poll, { attempt: 2 }))).toMatchObject({ type: 'Elsewhere' });
  expect(await run('createOrder', attemptOf('withdraw', undefined, { sentTo }))).toMatchObject({ kind: 'notSent' });
  expect(operations(sandbox)).toEqual([]);
});

/** Starts workers with a configuration of their own; call the answer to stop them. */
async function runWorkers(lab: Lab, config: WorkerConfig): Promise<() => Promise<void>> {
  const target = { connection: lab.temporal.nativeConnection, namespace: lab.temporal.namespace };
  const workers = await createWorkers(config, target, { workflowBundle: workflowBundle() });
  const runs = workers.map((worker) => worker.run());
  return async () => {
    for (const worker of workers) worker.shutdown();
    await Promise.all(runs);
  };
}

/** A lab without workers whose service is reached through a line, and a second service with an account of its own. */
async function openTwoServices(settleMs: number): Promise<{ lab: Lab; line: Line; other: Sandbox }> {
  let line: Line | undefined;
  const lab = await openLab({
    workers: false,
    callbacks: false,
    pace: { settleWindowMs: { atOnce: settleMs, deposit: settleMs } },
    serviceUrl: async (url) => {
      line = await openLine(url);
      return line.url;
    },
  });
  if (!line) throw new Error('no line');
  const opened = { lab, line, other: await startSandbox({ apiKey: 'another-key', timeScale: 0.2 }) };
  onTestFinished(async () => {
    await lab.close();
    await opened.line.close();
    await opened.other.close();
  });
  return opened;
}

/** What the order's look-up last failed with, as an operator reads it. */
async function lastFailureOf(lab: Lab, workflowId: string): Promise<string> {
  const { raw } = await lab.temporal.client.workflow.getHandle(workflowId).describe();
  return raw.pendingActivities?.map(({ lastFailure }) => lastFailure?.message).join() ?? '';
}

interface Case {
  title: string;
  /** How the worker that comes back reaches the other service. */
  misled(services: { line: Line; other: Sandbox }): { url: string; apiKey: string };
  failure: RegExp;
}

const CASES: Case[] = [
  {
    title: 'the key of another account',
    misled: ({ line, other }) => {
      line.leadTo(other.url);
      return { url: line.url, apiKey: other.apiKey };
    },
    failure: /as a predecessor if the key was rotated/,
  },
  {
    title: 'the base URL of another service',
    misled: ({ other }) => other,
    failure: /Set base URL and key of account default back, or approve/,
  },
];

describe('an uncertain order whose worker comes back with', () => {
  test.for(CASES)('$title: the other one learns nothing of it; later it is adopted', async ({ misled, failure }) => {
    // Long enough for the test: nothing may be proven absent meanwhile.
    const { lab, line, other } = await openTwoServices(60_000);
    const input = orderInput('withdraw', newOrderId('misled'), { marker: 'create=500 lag_ms=4000 duplicate=c' });
    const handle = await lab.orders.start('withdraw', input);
    const stopFirst = await runWorkers(lab, lab.config);
    await vi.waitFor(async () => expect(await handle.state()).toMatchObject({ phase: 'uncertain' }), 20_000);
    // The worker that sent it must not find it before it is gone, however long that takes.
    lab.sandbox.set({ faults: { 'list.500': 1, 'status.500': 1 } });
    await stopFirst();
    lab.sandbox.set({ faults: {} });

    const { url, apiKey } = misled({ line, other });
    const stopMisled = await runWorkers(lab, workerConfigFor({ ...other, url, apiKey }, lab.config.pace));
    await vi.waitFor(async () => {
      expect(await handle.state()).toMatchObject({ phase: 'uncertain' });
      expect(await lastFailureOf(lab, handle.workflowId)).toMatch(failure);
    }, 45_000);
    await stopMisled();
    expect(other.requests().filter(({ path }) => path.includes('/order/'))).toEqual([]);

    line.leadTo(lab.sandbox.url);
    const stopLast = await runWorkers(lab, lab.config);
    expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
    await stopLast();
    expect(serviceView(lab, handle.orderId)).toEqual({ creates: 1, executed: 1, blindCreates: 0 });
  });
});

test('a re-send that a worker with the key of another account takes is not sent there', async () => {
  const { lab, line, other } = await openTwoServices(600);
  const input = orderInput('withdraw', newOrderId('resent'), { marker: 'create=500-before', resend: 'never' });
  const handle = await lab.orders.start('withdraw', input);
  const stopFirst = await runWorkers(lab, lab.config);
  await parkedFor(handle);
  await stopFirst();

  line.leadTo(other.url);
  const config = workerConfigFor({ ...other, url: line.url }, lab.config.pace);
  const stopMisled = await runWorkers(lab, config);
  await decideNow(handle, 'resend');
  await vi.waitFor(
    async () => expect(await lastFailureOf(lab, handle.workflowId)).toMatch(/as a predecessor if the key was rotated/),
    30_000,
  );
  await stopMisled();
  expect(other.requests().filter(({ path }) => path.includes('/order/'))).toEqual([]);

  line.leadTo(lab.sandbox.url);
  const stopLast = await runWorkers(lab, lab.config);
  expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: false });
  await stopLast();
  expect(serviceView(lab, handle.orderId)).toEqual({ creates: 2, executed: 1, blindCreates: 0 });
});
