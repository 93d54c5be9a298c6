import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll } from 'vitest';
import type { Sandbox } from '../../sandbox/index.js';
import { atOnce } from '../../simulator/clock.js';
import type { Engine } from '../../simulator/engine/engine.js';
import { post } from '../../src/activities/events/post-event.js';
import type { OrderHandle } from '../../src/client/order-handle.js';
import type { PaymentOrders } from '../../src/client.js';
import { loadWorkerConfig } from '../../src/config.js';
import { DEFAULT_ACCOUNT, ORDER_CALLBACK_SIGNAL, orderWorkflowId } from '../../src/contract/names.js';
import type { OrderResult } from '../../src/contract/order/input-and-result.js';
import type { OrderState } from '../../src/contract/order/messages.js';
import { ServiceGate } from './service-gate.js';
import { openSimulatedLab } from './simulated-lab.js';
import { isOfOthers } from './ungrouped.js';

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Looks at whether an order has ended: more end nearer to its end. */
const STEPS = 50;

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

/** A lab on virtual time with the product's own defaults, whose service stands behind a gate. */
export interface GatedLab {
  sandbox: Sandbox;
  gate: ServiceGate;
  orders: PaymentOrders;
  /** Lets that much virtual time pass. */
  skip(durationMs: number): Promise<void>;
  /** Lets virtual time pass in steps until the condition holds; fails after `limitMs` of it. */
  skipUntil(condition: () => boolean | Promise<boolean>, stepMs: number, limitMs: number): Promise<void>;
  /** Result of an order that ends within that much virtual time; rejects as `handle.result()` does. */
  result(handle: OrderHandle, withinMs: number): Promise<OrderResult>;
  state(orderId: string): Promise<OrderState>;
  /** The callback's signal, as the receiver sends it. */
  callback(orderId: string): Promise<void>;
  /** Asks to cancel an order's workflow, as the Temporal UI does. */
  cancel(orderId: string): Promise<void>;
  history(orderId: string): Promise<HistoryEvents>;
  /** Replays every order that the service heard of; returns how many, throws on the first that does not fit the code. */
  replayAll(): Promise<number>;
  close(): Promise<void>;
}

/** Events of a history; `scheduled` = virtual times at which activities of a type were scheduled. */
export interface HistoryEvents {
  events: number;
  scheduled(activityType: string): number[];
}

/**
 * Opens a lab; `env` are settings as a worker reads them, such as `ORDER_POLL_MAX`. `nowMs`: the clock of the workers, that of
 * Temporal unless told otherwise. `quiet`: nobody else creates orders at the account.
 */
export async function openGatedLab(
  env: Record<string, string> = {},
  { nowMs, quiet = false }: { nowMs?: () => number; quiet?: boolean } = {},
): Promise<GatedLab> {
  const gate = new ServiceGate();
  await gate.open();
  // Callbacks are sent by the tests.
  const settings = { callbacks: { enabled: false }, durationsMs: { pay: 0, execute: 0 } };
  const lab = await openSimulatedLab({
    ...{ sandbox: { settings, timeScale: 1e-6 }, callbacks: false, workers: false, quiet },
    ...(nowMs && { nowMs }),
    serviceUrl: async () => gate.url,
    // To receivers on sockets, whose time is the machine's.
    post: (...given) => atOnce(() => post(...given)),
  });
  const { sandbox, orders, temporal, engine } = lab;
  const config = loadWorkerConfig({
    PAYMENT_BASE_URL: gate.url,
    PAYMENT_API_KEY: sandbox.apiKey,
    PAYMENT_API_SECRET: sandbox.apiSecret,
    PAYMENT_SIGNER: 'hmac-sha256',
    ...env,
  });
  await lab.startWorkers(config);
  const handleOf = (orderId: string) => temporal.client.workflow.getHandle(orderWorkflowId(DEFAULT_ACCOUNT, orderId));
  const skip = (durationMs: number) => sleep(durationMs);
  return {
    ...{ sandbox, gate, orders, skip },
    skipUntil,
    result: async (handle, withinMs) => {
      await skipUntil(async () => !(await handle.isOpen()), withinMs / STEPS, withinMs);
      return handle.result();
    },
    state: (orderId) => handleOf(orderId).query<OrderState>('orderState'),
    callback: (orderId) => handleOf(orderId).signal(ORDER_CALLBACK_SIGNAL, {}),
    cancel: async (orderId) => void (await handleOf(orderId).cancel()),
    history: async (orderId) => describeHistory(await handleOf(orderId).fetchHistory()),
    replayAll: async () => {
      const ids = gate.orderIds().filter((id) => !isOfOthers(id));
      for (const id of ids) await expectReplay(engine, orderWorkflowId(DEFAULT_ACCOUNT, id));
      return ids.length;
    },
    close: async () => {
      await lab.close();
      await gate.shut();
    },
  };
}

/** Sets such a lab up for a test file. */
export function useGatedLab(...options: Parameters<typeof openGatedLab>): GatedLab {
  const lab = {} as GatedLab;
  beforeAll(async () => void Object.assign(lab, await openGatedLab(...options)));
  afterAll(() => lab.close?.());
  return lab;
}

async function skipUntil(condition: () => boolean | Promise<boolean>, stepMs: number, limitMs: number): Promise<void> {
  for (let skippedMs = 0; !(await condition()); skippedMs += stepMs) {
    if (skippedMs >= limitMs) throw new Error(`not reached within ${limitMs} ms of virtual time`);
    await sleep(stepMs);
  }
}

/** Fails unless the code of a workflow's runs gives the same commands again in a fresh sandbox. */
export async function expectReplay({ code, runs }: Engine, workflowId: string): Promise<void> {
  for (const run of runs.get(workflowId) ?? []) {
    const { workflow, differs } = await code.replay(run);
    await workflow.dispose();
    if (differs !== undefined) throw new Error(`${workflowId} does not replay from its activation ${differs} on`);
  }
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
