import { Client, type WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/index.js';
import { createTimeSkippingEnv } from '../../scripts/temporal/time-skipping.js';
import type { OrderHandle } from '../../src/client/order-handle.js';
import { PaymentOrders } from '../../src/client.js';
import { loadWorkerConfig } from '../../src/config.js';
import { DEFAULT_ACCOUNT, ORDER_CALLBACK_SIGNAL, orderWorkflowId } from '../../src/contract/names.js';
import type { OrderResult } from '../../src/contract/order/input-and-result.js';
import type { OrderState } from '../../src/contract/order/messages.js';
import { createWorkers } from '../../src/worker/start-worker.js';
import { asReset } from './as-reset.js';
import { ServiceGate } from './service-gate.js';
import { quietWorkers, workflowBundle } from './temporal.js';
import { isOfOthers, openUngrouped } from './ungrouped.js';

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Steps in which `result` skips: more end nearer to the order's end, fewer take less real time. */
const STEPS = 50;

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

/**
 * Real workflows, activities and HTTP on a server that skips time. What its tests rely on:
 * - the server has one clock for all workflows. It runs ahead of real time only in `skip`, never past its end, and stands
 *   back while an activity runs. Retry delays of activities are skipped like timers, `nextRetryDelay` included, one
 *   attempt after the other (about 20 ms of real time each);
 * - `orders` has a plain client. The environment's own one skips in every `handle.result()`, and when nothing is under way,
 *   for an ended workflow too, the clock jumps on by ten years, which times out every other open workflow;
 * - the sandbox lives in real time, its delays in minutes are next to nothing. What must happen at a virtual time is done
 *   by the gate in front of it.
 */
export interface SkippingLab {
  sandbox: Sandbox;
  gate: ServiceGate;
  orders: PaymentOrders;
  /** Virtual time. */
  nowMs(): Promise<number>;
  /** Lets that much virtual time pass. */
  skip(durationMs: number): Promise<void>;
  /** Lets virtual time pass in steps until the condition holds; fails after `limitMs` of virtual time. */
  skipUntil(condition: () => boolean | Promise<boolean>, stepMs: number, limitMs: number): Promise<void>;
  /** Result of an order that ends within that much virtual time; rejects as `handle.result()` does. */
  result(handle: OrderHandle, withinMs: number): Promise<OrderResult>;
  state(orderId: string): Promise<OrderState>;
  /** The callback's signal, as the receiver sends it. */
  callback(orderId: string): Promise<void>;
  /** Asks to cancel an order's workflow, as the Temporal UI does. */
  cancel(orderId: string): Promise<void>;
  history(orderId: string): Promise<HistoryEvents>;
  /**
   * Replays every order that the service heard of, also as a run that a reset cut from it; returns how many orders, throws on the first
   * that does not fit the code.
   */
  replayAll(): Promise<number>;
  close(): Promise<void>;
}

/** Events of a history; `scheduled` = virtual times at which activities of a type were scheduled. */
export interface HistoryEvents {
  events: number;
  scheduled(activityType: string): number[];
}

/**
 * Opens a lab with the product's own defaults; `env` are settings as a worker reads them, such as `ORDER_POLL_MAX`. `clock`: of
 * the workers; the server's, unless told otherwise. `quiet`: nobody else creates orders at the account.
 */
export async function openSkippingLab(
  env: Record<string, string> = {},
  clock: (serverNowMs: () => Promise<number>) => () => number | Promise<number> = (serverNowMs) => serverNowMs,
  { quiet = false } = {},
): Promise<SkippingLab> {
  quietWorkers();
  const temporal = await createTimeSkippingEnv();
  const nowMs = () => temporal.currentTimeMs();
  // Callbacks are sent by the tests: the sandbox would send them in real time.
  const settings = { callbacks: { enabled: false }, durationsMs: { pay: 0, execute: 0 } };
  const sandbox = await startSandbox({ settings, timeScale: 1e-6 });
  const gate = new ServiceGate(sandbox.url, nowMs);
  await gate.open();
  const config = loadWorkerConfig({
    PAYMENT_BASE_URL: gate.url,
    PAYMENT_API_KEY: sandbox.apiKey,
    PAYMENT_API_SECRET: sandbox.apiSecret,
    PAYMENT_SIGNER: 'hmac-sha256',
    ...env,
  });
  const target = { connection: temporal.nativeConnection, namespace: temporal.namespace ?? 'default' };
  // Workers whose clock is the machine's would see Temporal's jump ahead of them.
  const workers = await createWorkers(
    config,
    target,
    { workflowBundle: workflowBundle(), debugMode: true },
    await openUngrouped(config.accounts, { realTime: false, quiet, nowMs: clock(nowMs) }),
    clock(nowMs),
  );
  const running = workers.map((worker) => worker.run());
  const client = new Client({ connection: temporal.connection, namespace: target.namespace });
  const handleOf = (orderId: string) => client.workflow.getHandle(orderWorkflowId(DEFAULT_ACCOUNT, orderId));
  const skip = (durationMs: number) => temporal.sleep(durationMs);
  return {
    sandbox,
    gate,
    orders: new PaymentOrders(client),
    nowMs,
    skip,
    skipUntil: (condition, stepMs, limitMs) => skipUntil(condition, skip, stepMs, limitMs),
    result: async (handle, withinMs) => {
      await skipUntil(async () => !(await handle.isOpen()), skip, withinMs / STEPS, withinMs);
      return handle.result();
    },
    state: (orderId) => handleOf(orderId).query<OrderState>('orderState'),
    callback: (orderId) => handleOf(orderId).signal(ORDER_CALLBACK_SIGNAL, {}),
    cancel: async (orderId) => void (await handleOf(orderId).cancel()),
    history: async (orderId) => describeHistory(await handleOf(orderId).fetchHistory()),
    replayAll: () =>
      replay(
        gate
          .orderIds()
          .filter((id) => !isOfOthers(id))
          .map(handleOf),
      ),
    close: async () => {
      for (const worker of workers) worker.shutdown();
      await Promise.all(running);
      await gate.shut();
      await sandbox.close();
      await temporal.teardown();
    },
  };
}

/** Sets such a lab up for a test file. */
export function useSkippingLab(...options: Parameters<typeof openSkippingLab>): SkippingLab {
  const lab = {} as SkippingLab;
  beforeAll(async () => void Object.assign(lab, await openSkippingLab(...options)));
  afterAll(() => lab.close?.());
  return lab;
}

async function skipUntil(
  condition: () => boolean | Promise<boolean>,
  skip: (durationMs: number) => Promise<void>,
  stepMs: number,
  limitMs: number,
): Promise<void> {
  for (let skippedMs = 0; !(await condition()); skippedMs += stepMs) {
    if (skippedMs >= limitMs) throw new Error(`not reached within ${limitMs} ms of virtual time`);
    await skip(stepMs);
  }
}

async function replay(handles: WorkflowHandle[]): Promise<number> {
  const histories = await Promise.all(
    handles.map(async (handle) => ({ workflowId: handle.workflowId, history: await handle.fetchHistory() })),
  );
  const both = [...histories, ...histories.map(asReset)];
  const results = Worker.runReplayHistories({ workflowBundle: workflowBundle() }, both);
  let replayed = 0;
  for await (const { workflowId, error } of results) {
    if (error) throw new Error(`${workflowId} does not replay: ${error.message}`);
    replayed += 1;
  }
  return replayed / 2;
}

function describeHistory({ events }: History): HistoryEvents {
  const all = events ?? [];
  const toMs = (seconds: unknown, nanos: unknown) => Number(seconds) * 1_000 + Number(nanos ?? 0) / 1e6;
  return {
    events: all.length,
    scheduled: (activityType) =>
      all.flatMap(({ eventTime, activityTaskScheduledEventAttributes: scheduled }) =>
        scheduled?.activityType?.name === activityType ? [toMs(eventTime?.seconds, eventTime?.nanos)] : [],
      ),
  };
}
