import { setTimeout as realSleep } from 'node:timers/promises';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTimeSkippingEnv, parseJavaVersion } from '../../scripts/temporal/time-skipping.js';
import { testWorkflowBundle } from '../support/bundle-once.js';
import { quietWorkers } from '../support/temporal.js';
import { marker, sleeper } from './workflows.fixture.js';

const TASK_QUEUE = 'time-skipping-test';
const DAY_MS = 24 * 3600 * 1000;

let env: TestWorkflowEnvironment;
let worker: Worker;
let running: Promise<void>;

beforeAll(async () => {
  quietWorkers();
  env = await createTimeSkippingEnv();
  worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue: TASK_QUEUE,
    workflowBundle: await testWorkflowBundle(new URL('./workflows.fixture.ts', import.meta.url)),
  });
  running = worker.run();
});

afterAll(async () => {
  worker?.shutdown();
  await running;
  await env?.teardown();
});

test('thirty days of sleep pass in seconds', async () => {
  const startedAtMs = Date.now();
  const sleptMs = await env.client.workflow.execute(sleeper, {
    workflowId: 'sleeper',
    taskQueue: TASK_QUEUE,
    args: [30 * DAY_MS],
  });
  expect(sleptMs).toBeGreaterThanOrEqual(30 * DAY_MS);
  expect(Date.now() - startedAtMs).toBeLessThan(20_000);
});

test('time stands still until somebody waits for a result', async () => {
  const handle = await env.client.workflow.start(sleeper, {
    workflowId: 'not-awaited',
    taskQueue: TASK_QUEUE,
    args: [DAY_MS],
  });
  await realSleep(500);
  expect((await handle.describe()).status.name).toBe('RUNNING');
  await env.sleep(2 * DAY_MS);
  expect((await handle.describe()).status.name).toBe('COMPLETED');
});

test("the project's search attributes can be set", async () => {
  await env.client.workflow.execute(marker, { workflowId: 'marker', taskQueue: TASK_QUEUE, args: ['default'] });
  const { searchAttributes } = await env.client.workflow.getHandle('marker').describe();
  expect(searchAttributes).toMatchObject({ PaymentAccount: ['default'] });
});

test.each([
  ['openjdk version "17.0.15" 2025-04-15', 17],
  ['java version "1.8.0_402"', 1],
  ['command not found', 0],
])('Java version of %j is %i', (text, version) => {
  expect(parseJavaVersion(text)).toBe(version);
});
