import { setTimeout as sleep } from 'node:timers/promises';
import { NativeConnection, type Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type AccountConfig, Secret } from '../../src/config.js';
import { createWorkers } from '../../src/worker/start-worker.js';
import { type CountingLine, openCountingLine } from '../support/counting-line.js';
import { QUICK_PACE } from '../support/lab.js';
import { useNamespace, workflowBundle } from '../support/temporal.js';

const ACCOUNTS = 20;
const MOST_POLLS = 50;

const temporal = useNamespace();
let line: CountingLine;
let connection: NativeConnection;
const running: { worker: Worker; run: Promise<void> }[] = [];

const account = (name: string): AccountConfig => ({
  name,
  baseUrl: 'http://127.0.0.1:9',
  apiKey: new Secret(`key-of-${name}`),
  apiSecret: new Secret(`secret-of-${name}`),
  signer: 'hmac-sha256',
});

beforeAll(async () => {
  line = await openCountingLine(temporal.address);
  connection = await NativeConnection.connect({ address: line.address });
  const names = Array.from({ length: ACCOUNTS }, (_, index) => `account-${index + 1}`);
  const workers = await createWorkers(
    { accounts: new Map(names.map((name) => [name, account(name)])), pace: QUICK_PACE },
    { connection, namespace: temporal.namespace },
    { workflowBundle: workflowBundle(), debugMode: true },
  );
  running.push(...workers.map((worker) => ({ worker, run: worker.run() })));
});
afterAll(async () => {
  for (const { worker } of running) worker.shutdown();
  await Promise.all(running.map(({ run }) => run));
  await connection?.close();
  await line?.close();
});

const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((all, count) => all + count, 0);

test(`a process of ${ACCOUNTS} accounts has at most ${MOST_POLLS} polls open while nothing happens`, async () => {
  const queues = 1 + 2 * ACCOUNTS;
  // Every queue is polled before the polls are counted: with fewer some order would wait for ever.
  await vi.waitFor(() => expect(line.polls().PollActivityTaskQueue).toBeGreaterThanOrEqual(queues), {
    timeout: 60_000,
  });
  await sleep(2_000);
  process.stdout.write(`open polls: ${JSON.stringify(line.polls())}\n`);
  expect(line.polls().PollWorkflowTaskQueue).toBeGreaterThanOrEqual(2);
  expect(sum(line.polls())).toBeLessThanOrEqual(MOST_POLLS);
});
