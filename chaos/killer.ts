import { setTimeout as sleep } from 'node:timers/promises';
import { outside, SPELLS, type Spell } from './faults.js';
import { Payers } from './payers.js';
import type { ChaosStack } from './stack.js';

/** When and how often each process is killed, in milliseconds since the load began. */
const SCHEDULE = {
  worker: { firstMs: 10_000, everyMs: 10_000 },
  receiver: { firstMs: 15_000, everyMs: 20_000 },
  temporal: { firstMs: 30_000, everyMs: 60_000 },
  sandbox: { firstMs: 45_000, everyMs: Number.POSITIVE_INFINITY },
} as const;

/** When what is around the orders changes: a worker knows another key from its next start on. */
const CHANGES = {
  // Later than every order that Temporal forgot got its first answer: before it, nobody knows at which account it is.
  "the account's key": { firstMs: 75_000, everyMs: 60_000 },
  'who pays commissions': { firstMs: 12_000, everyMs: 16_000 },
  'the cluster of the namespace': { firstMs: 4_000, everyMs: Number.POSITIVE_INFINITY },
} as const;

/** When what is killed or changed, in words. */
export const scheduleText = (): string =>
  [
    ...Object.entries({ ...SCHEDULE, ...CHANGES }).map(([name, { firstMs, everyMs }]) => {
      const again = Number.isFinite(everyMs) ? `every ${everyMs / 1_000} s` : 'once';
      return `${name} ${again} from ${firstMs / 1_000} s on`;
    }),
    ...SPELLS.map(({ name, fromMs, toMs }) => `${name} from ${fromMs / 1_000} to ${toMs / 1_000} s`),
  ].join(', ');

/** Kills processes until `signal` says stop; then resolves when the last victim is being started again. */
export async function killAll(stack: ChaosStack, seed: string, signal: AbortSignal): Promise<void> {
  let nextWorker = 0;
  const killNextWorker = () => {
    stack.workers[nextWorker]?.kill();
    nextWorker = (nextWorker + 1) % stack.workers.length;
  };
  const payers = new Payers(stack.service);
  await Promise.all([
    repeat(SCHEDULE.worker, signal, async () => killNextWorker()),
    repeat(SCHEDULE.receiver, signal, async () => stack.receiver.kill()),
    repeat(SCHEDULE.temporal, signal, () => stack.temporal.killAndRestart()),
    repeat(SCHEDULE.sandbox, signal, async () => stack.sandboxes[0]?.kill()),
    repeat(CHANGES["the account's key"], signal, () => stack.accounts.swap()),
    repeat(CHANGES['who pays commissions'], signal, () => payers.swap()),
    repeat(CHANGES['the cluster of the namespace'], signal, async () => stack.failover.begin()),
    ...SPELLS.map((spell) => cast(stack, spell, seed, signal)),
  ]);
}

async function cast({ service }: ChaosStack, spell: Spell, seed: string, signal: AbortSignal): Promise<void> {
  if (!(await waited(spell.fromMs, signal))) return;
  await service.set(spell.during);
  await waited(spell.toMs - spell.fromMs, signal);
  await service.set(outside(spell, seed));
}

async function repeat(
  { firstMs, everyMs }: { firstMs: number; everyMs: number },
  signal: AbortSignal,
  kill: () => Promise<void>,
): Promise<void> {
  const startedAt = performance.now();
  for (let dueMs = firstMs; dueMs < Number.POSITIVE_INFINITY; dueMs += everyMs) {
    const leftMs = dueMs - (performance.now() - startedAt);
    if (!(await waited(Math.max(0, leftMs), signal))) return;
    await kill();
  }
}

/** False when the wait was cut short. */
async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}
