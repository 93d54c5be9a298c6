import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { SandboxStats } from '../../sandbox/admin.js';
import { PaymentOrders } from '../../src/client.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { createTestNamespace, type TestNamespace } from '../support/temporal.js';
import {
  type Env,
  endProcesses,
  type Process,
  startProcess,
  startSandboxProcess,
  temporalEnv,
  workerEnv,
} from '../worker/process.fixture.js';
import { type Line, openLine } from './line.fixture.js';

/** The stopped attempt is given up after 60 s; then come the settle window and the second create. */
const TEST_LIMIT_MS = 240_000;

let service: string;
let stats: () => Promise<SandboxStats>;
beforeAll(async () => {
  ({ service, stats } = await startSandboxProcess());
});
afterAll(endProcesses);

interface Case {
  where: string;
  /** The answer to the probe is kept back, so that the worker stops while it waits for it. */
  keepProbe: boolean;
  /** Settings of the worker that becomes the zombie, and of the one that takes over. */
  zombie: Env;
  successor: Env;
}

const CASES: Case[] = [
  { where: 'while it waits for its probe', keepProbe: true, zombie: {}, successor: {} },
  {
    // Two seconds between requests: the probe is read, and the create waits for its turn. Nothing but the age of the
    // attempt keeps it from being sent afterwards. The successor lifts the limit that the first one set at the server.
    where: 'between its probe and its send',
    keepProbe: false,
    zombie: { PAYMENT_REQUESTS_PER_SECOND: '0.5' },
    successor: { PAYMENT_REQUESTS_PER_SECOND: '100' },
  },
];

async function startWorker(temporal: TestNamespace, line: Line, env: Env): Promise<Process> {
  const settings = { ...workerEnv(temporalEnv(temporal), line.url), ORDER_SETTLE_WINDOW: '2s', ...env };
  const worker = startProcess('src/worker.ts', settings);
  await worker.ready;
  return worker;
}

/** Creates that the service received, and orders it executed, under one id. */
async function countsOf(orderId: string): Promise<{ creates: number; executed: number }> {
  const { createsByOrderId, executedByOrderId } = await stats();
  return { creates: createsByOrderId[orderId] ?? 0, executed: executedByOrderId[orderId] ?? 0 };
}

/** Others are paid meanwhile: what may have been sent waits for a later order, whose id is no shorter. */
async function payUntil(ended: Promise<unknown>, { client }: TestNamespace): Promise<void> {
  let isOver = false;
  const over = ended.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await new PaymentOrders(client).start('withdraw', orderInput('withdraw', newOrderId('zombie-later')));
    await Promise.race([over, sleep(10_000)]);
  }
}

async function freezeThroughSettling({ keepProbe, zombie, successor }: Case, temporal: TestNamespace, line: Line) {
  const orderId = newOrderId('zombie');
  const stopped = await startWorker(temporal, line, zombie);
  // A second create would be executed as well.
  const input = orderInput('withdraw', orderId, { marker: 'duplicate=c' });
  const handle = await new PaymentOrders(temporal.client).start('withdraw', input);
  await line.reached;
  stopped.kill('SIGSTOP');
  expect(await countsOf(orderId)).toEqual({ creates: 0, executed: 0 });

  const second = await startWorker(temporal, line, successor);
  const result = handle.result();
  await payUntil(result, temporal);
  expect(await result).toMatchObject({ outcome: 'completed', adopted: false });
  expect(await countsOf(orderId)).toEqual({ creates: 1, executed: 1 });

  if (keepProbe) line.release();
  stopped.kill('SIGCONT');
  await vi.waitFor(() => expect(stopped.stderr()).toContain('create attempt ended'), 20_000);
  const ends = stopped
    .stderr()
    .split('\n')
    .filter((text) => text.includes('create attempt ended'));
  // It may look again, and find what the other one sent.
  expect(ends.map((text) => JSON.parse(text).verdict)).toEqual([expect.stringMatching(/^(notSent|adopted)$/)]);
  expect(await countsOf(orderId)).toEqual({ creates: 1, executed: 1 });
  for (const left of [stopped, second]) left.kill('SIGKILL');
}

describe.concurrent('a worker that is stopped for the attempt’s 60 s and the whole settle window, and goes on', () => {
  test.for(CASES)(
    '$where: the order was executed once by another worker, and it sends nothing',
    {
      timeout: TEST_LIMIT_MS,
    },
    async (each) => {
      const temporal = await createTestNamespace();
      const line = await openLine(service, { path: '/v2/order/list', keep: each.keepProbe });
      try {
        await freezeThroughSettling(each, temporal, line);
      } finally {
        await line.close();
        await temporal.close();
      }
    },
  );
});
