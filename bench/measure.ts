import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSeconds } from './cpu-seconds.js';

const IDLE_MS = 5_000;

/** Seconds of CPU that each process takes in a second in which nothing happens. */
export async function idleShares(pids: readonly number[]): Promise<Map<number, number>> {
  const before = await Promise.all(pids.map(cpuSeconds));
  await sleep(IDLE_MS);
  const after = await Promise.all(pids.map(cpuSeconds));
  return new Map(pids.map((pid, index) => [pid, ((after[index] ?? 0) - (before[index] ?? 0)) / (IDLE_MS / 1_000)]));
}

/** Some work: how long it took, and the CPU that each process used for it, without what it uses while nothing happens. */
export async function usedBy(
  pids: readonly number[],
  idle: ReadonlyMap<number, number>,
  work: () => Promise<void>,
): Promise<{ seconds: number; cpuMs: number[] }> {
  const before = await Promise.all(pids.map(cpuSeconds));
  const begun = performance.now();
  await work();
  const seconds = (performance.now() - begun) / 1_000;
  const after = await Promise.all(pids.map(cpuSeconds));
  const cpuMs = pids.map((pid, n) => ((after[n] ?? 0) - (before[n] ?? 0) - (idle.get(pid) ?? 0) * seconds) * 1_000);
  return { seconds, cpuMs };
}

/** Does something for 0 to count - 1, so many at a time. */
export async function inLanes(count: number, lanes: number, one: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) await one(next++);
  };
  await Promise.all(Array.from({ length: Math.min(lanes, count) }, lane));
}
