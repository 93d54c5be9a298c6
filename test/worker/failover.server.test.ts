import { temporal as api } from '@temporalio/proto';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/index.js';
import { serviceOf } from '../../scripts/service-of.js';
import { type GrpcGate, openGrpcGate } from '../../scripts/temporal/grpc-gate.js';
import type { OrderHandle } from '../../src/client/order-handle.js';
import { PaymentOrders } from '../../src/client.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { openGate, type ServiceGate } from '../support/service-gate.js';
import { type Env, type Process, startProcess, temporalEnv, useProcesses, workerEnv } from './process.fixture.js';

/*
 * A replicated namespace fails over, and the new cluster does not know of a send. Only the answer to
 * `describeNamespace` is a double; another program makes the lost send, and the service hides it at first.
 */

vi.setConfig({ testTimeout: 120_000 });

const WINDOW_MS = 10_000;

/** What Temporal says of the namespace besides what it is. */
interface Replicated {
  isGlobalNamespace: boolean;
  failoverVersion: number;
  /** Times of failovers, in ms. */
  history: number[];
}

const LOCAL: Replicated = { isGlobalNamespace: false, failoverVersion: 0, history: [] };
const YEAR_AGO = Date.now() - 365 * 86_400_000;

let sandbox: Sandbox;
let gate: ServiceGate;
let line: GrpcGate;
let env: Env;
let orders: PaymentOrders;
let replicated = LOCAL;
let asked = 0;
let isHidden = false;

afterAll(async () => {
  line?.close();
  await gate?.shut();
  await sandbox?.close();
});
const temporal = useProcesses();
beforeAll(async () => {
  sandbox = await startSandbox({ timeScale: 0.2 });
  gate = await openGate(sandbox.url, ({ path }) => {
    if (!isHidden) return undefined;
    if (path.endsWith('/order/list')) return { status: 200, body: '{"status":"success","data":[]}' };
    return path.endsWith('/order/status') ? { status: 400, body: '{}' } : undefined;
  });
  line = await openGrpcGate(temporal.address);
  const { DescribeNamespaceResponse } = api.api.workflowservice.v1;
  line.changeAnswers('DescribeNamespace', (message) => {
    asked += 1;
    const { isGlobalNamespace, failoverVersion, history } = replicated;
    const answer = DescribeNamespaceResponse.toObject(DescribeNamespaceResponse.decode(message));
    const failoverHistory = history.map((ms) => ({ failoverTime: { seconds: Math.floor(ms / 1_000) } }));
    const changed = { ...answer, isGlobalNamespace, failoverVersion, failoverHistory };
    return DescribeNamespaceResponse.encode(DescribeNamespaceResponse.fromObject(changed)).finish();
  });
  env = {
    ...workerEnv(temporalEnv({ ...temporal, address: line.address }), gate.url),
    ORDER_SETTLE_WINDOW: `${WINDOW_MS}ms`,
  };
  orders = new PaymentOrders(temporal.client);
});

let worker: Process;
beforeEach(async () => {
  [replicated, isHidden] = [{ isGlobalNamespace: true, failoverVersion: 1, history: [YEAR_AGO] }, false];
  return async () => {
    worker.kill('SIGTERM');
    expect(await worker.exited).toBe(0);
  };
});

async function startWorker(more: Env = {}): Promise<void> {
  worker = startProcess('src/worker.ts', { ...env, ...more });
  await worker.ready;
}

/** Sends the order behind Temporal's back; the service shows it only 3 s later. */
async function lostSend() {
  const input = orderInput('withdraw', newOrderId('failover'), { marker: 'duplicate=c after_ms=20' });
  await (await serviceOf(sandbox)).createOrder('withdraw', input.order);
  isHidden = true;
  setTimeout(() => {
    isHidden = false;
  }, 3_000);
  return input;
}

async function isFollowed(handle: OrderHandle): Promise<void> {
  expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
  expect(sandbox.stats().executedByOrderId[handle.orderId]).toBe(1);
}

const failOver = (change: Partial<Replicated>) => {
  replicated = { ...replicated, failoverVersion: replicated.failoverVersion + 1, ...change };
};

test('what was sent before a failover is found and followed by a worker that starts after it', async () => {
  failOver({ history: [YEAR_AGO, Date.now()] });
  // A busy machine takes its time for the start.
  await startWorker({ ORDER_SETTLE_WINDOW: '30s' });
  await isFollowed(await orders.start('withdraw', await lostSend()));
});

test('so it is by a worker that runs, from the very moment of the failover', async () => {
  await startWorker();
  const input = await lostSend();
  failOver({ history: [YEAR_AGO, Date.now()] });
  await isFollowed(await orders.start('withdraw', input));
  expect(worker.stderr()).toContain('the namespace failed over');
});

test('so it is where Temporal changes its failover version and names no time', async () => {
  await startWorker();
  const input = await lostSend();
  failOver({});
  await isFollowed(await orders.start('withdraw', input));
});

test('a failover of long ago holds nothing up', async () => {
  await startWorker({ ORDER_SETTLE_WINDOW: '10m' });
  const handle = await orders.start('withdraw', orderInput('withdraw', newOrderId('long-ago')));
  expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: false });
});

test('a local namespace costs no question per order', async () => {
  replicated = LOCAL;
  await startWorker();
  const [before, startedAtMs] = [asked, Date.now()];
  const inputs = Array.from({ length: 20 }, () => orderInput('withdraw', newOrderId('local')));
  const handles = await Promise.all(inputs.map((input) => orders.start('withdraw', input)));
  await Promise.all(handles.map((handle) => handle.result()));
  expect(asked - before).toBeLessThanOrEqual(2 + (Date.now() - startedAtMs) / 3_000);
});
