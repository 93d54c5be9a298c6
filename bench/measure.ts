import { setTimeout as sleep } from 'node:timers/promises';
import { orderWorkflowId } from '../src/contract/names.js';
import type { OpenContender } from './contenders.js';
import { cpuSeconds } from './cpu-seconds.js';
import type { Stand } from './stand.js';

/** What an order costs. CPU without what the processes use while nothing happens. */
export interface Cost {
  ordersPerSecond: number;
  /** From start to result. */
  p50Ms: number;
  serverCpuMs: number;
  workerCpuMs: number;
  /** Of its own workflow's history. */
  events: number;
  bytes: number;
  requests: number;
}

/** What every figure is called, and in which order they are shown. */
export const FIGURES = [
  'ordersPerSecond',
  'p50Ms',
  'serverCpuMs',
  'workerCpuMs',
  'events',
  'bytes',
  'requests',
] as const;

/** Histories that are looked at. */
const SAMPLE = 20;
const IDLE_MS = 5_000;

/** Seconds of CPU that a process takes in a second in which nothing happens. */
export async function idleShare(pid: number): Promise<number> {
  const before = await cpuSeconds(pid);
  await sleep(IDLE_MS);
  return ((await cpuSeconds(pid)) - before) / (IDLE_MS / 1_000);
}

/** Runs orders, so many open at a time, and answers what one of them cost. */
export async function costOf(
  stand: Stand,
  contender: OpenContender,
  {
    label,
    orders,
    open,
    idle,
  }: { label: string; orders: number; open: number; idle: { server: number; worker: number } },
): Promise<Cost> {
  const requestsBefore = await stand.requests();
  const [serverBefore, workerBefore] = [await cpuSeconds(stand.serverPid), await cpuSeconds(contender.workerPid)];
  const begun = performance.now();
  const tookMs: number[] = [];
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < orders) {
      const orderId = `${label}-${next++}`;
      const startedAt = performance.now();
      await contender.run(orderId);
      tookMs.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: open }, one));
  const seconds = (performance.now() - begun) / 1_000;
  const perOrder = (cpu: number, share: number) => ((cpu - share * seconds) * 1_000) / orders;
  const serverCpuMs = perOrder((await cpuSeconds(stand.serverPid)) - serverBefore, idle.server);
  const workerCpuMs = perOrder((await cpuSeconds(contender.workerPid)) - workerBefore, idle.worker);
  const histories = await Promise.all(
    Array.from({ length: Math.min(SAMPLE, orders) }, (_, n) =>
      contender.client.workflow.getHandle(orderWorkflowId('default', `${label}-${n}`)).describe(),
    ),
  );
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return {
    ordersPerSecond: orders / seconds,
    p50Ms: median(tookMs),
    ...{ serverCpuMs, workerCpuMs },
    events: mean(histories.map(({ historyLength }) => historyLength)),
    bytes: mean(histories.map(({ historySize = 0 }) => historySize)),
    requests: ((await stand.requests()) - requestsBefore) / orders,
  };
}

/** The middle of some figures; the lower one of two. */
export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? Number.NaN;
