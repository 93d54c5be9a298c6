import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosStack } from '../chaos/stack.js';
import type { Books } from './books.js';

/** Parts of the load that are compared; a cycle of disturbances takes one, in a short run several. */
export const PARTS = 6;
/** Rolling restarts take this long on a busy machine, so that a short run has fewer cycles. */
const MIN_CYCLE_MS = 120_000;

/** Returns how long a cycle takes. */
export const cycleMs = (minutes: number): number => {
  const cycles = Math.max(1, Math.min(PARTS, Math.floor((minutes * 60_000) / MIN_CYCLE_MS)));
  return (minutes * 60_000) / cycles;
};

/** Disturbance of a run: `at` is its place in a cycle, from 0 to 1; `cycles` are those that have it. */
interface Disturbance {
  name: string;
  at: number;
  /** Absent = all. */
  cycles?: readonly number[];
  act(): Promise<void>;
}

/** Causes that disturb the load, one after the other. */
export interface Causes {
  stack: ChaosStack;
  books: Books;
  /** Folders of the compiled versions that deploys alternate between. */
  versions: readonly string[];
  /** Receives each new key of the account. */
  newKeys: string[];
}

/**
 * Returns the disturbances of a cycle. From the fourth on, the last worker, the receiver and the API
 * live without an end, so that a leak shows.
 */
export function disturbances({ stack, books, versions, newKeys }: Causes): Disturbance[] {
  const { workers, receiver, temporal, accounts } = stack;
  const passing = workers.slice(0, -1);
  let deploys = 0;
  const kill = async (victim?: { kill(): void; whenReady(): Promise<void> }) => {
    victim?.kill();
    await victim?.whenReady();
  };
  const deploy = async () => {
    deploys += 1;
    const script = join(versions[deploys % versions.length] ?? '', 'worker.js');
    for (const worker of passing) await worker.replace({ args: [script] });
  };
  const rotate = async () => {
    const apiKey = randomBytes(24).toString('base64url');
    newKeys.push(apiKey);
    stack.admit(apiKey);
    await accounts.rotate(apiKey);
    for (const worker of workers) await worker.replace();
  };
  return [
    { name: 'kill a worker', at: 0.05, act: () => kill(passing[0]) },
    { name: 'kill the receiver', at: 0.15, cycles: [0, 1, 2], act: () => kill(receiver) },
    { name: 'deploy the other version', at: 0.25, act: deploy },
    { name: 'kill Temporal', at: 0.45, act: () => temporal.killAndRestart() },
    { name: "rotate the account's key", at: 0.55, cycles: [0, 2], act: rotate },
    { name: 'kill another worker', at: 0.8, act: () => kill(passing.at(-1)) },
    { name: 'export the books', at: 0.9, act: () => books.export() },
  ];
}

/** Disturbs in order until the time is over; what is late follows at once. */
export async function disturb(
  all: readonly Disturbance[],
  { totalMs, everyMs, signal }: { totalMs: number; everyMs: number; signal: AbortSignal },
  done: (name: string, tookMs: number) => Promise<void>,
): Promise<void> {
  const startedAt = performance.now();
  for (let cycle = 0; cycle * everyMs < totalMs; cycle += 1) {
    for (const { name, at, cycles, act } of all) {
      if (cycles && !cycles.includes(cycle)) continue;
      const leftMs = (cycle + at) * everyMs - (performance.now() - startedAt);
      if (leftMs > 0) await sleep(leftMs, undefined, { signal });
      if (performance.now() - startedAt > totalMs) return;
      const begun = performance.now();
      await act();
      await done(name, Math.round(performance.now() - begun));
    }
  }
}
