import { setTimeout as sleep } from 'node:timers/promises';
import type { Interference } from './interference.js';
import { killAll } from './killer.js';
import type { Load } from './load.js';
import type { ChaosOptions } from './options.js';
import type { ChaosStack } from './stack.js';

/** Killing goes on at least this long in all, and after the last start. */
const MIN_FIRE_MS = 75_000;
const FIRE_AFTER_LAST_START_MS = 20_000;
/** Starts take at least this long: of few orders, too, some start at any time while processes die. */
const STARTS_SPREAD_S = 50;

const startRate = (orders: number, rate: number): number => Math.min(rate, orders / STARTS_SPREAD_S);

/** How long starts and kills take when nothing delays them; `rate` = orders started per second at most. */
export const fireMs = (orders: number, rate: number): number =>
  Math.max(MIN_FIRE_MS, (1_000 * orders) / startRate(orders, rate) + FIRE_AFTER_LAST_START_MS);

/** Starts all orders while processes die and an operator interferes; returns when all are over. Throws when something killed does not come back. */
export async function fire(
  stack: ChaosStack,
  load: Load,
  interference: Interference,
  { rate, seed }: ChaosOptions,
  aborted: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  const stop = () => over.abort();
  aborted.addEventListener('abort', stop, { once: true });
  const killing = Promise.all([killAll(stack, seed, over.signal), interference.run(over.signal)]);
  try {
    // Without the race the starts would wait for ever for what does not come back.
    await Promise.race([startAll(load, rate, aborted), killing.then(() => new Promise<never>(() => {}))]);
  } finally {
    stop();
    await killing;
  }
}

async function startAll(load: Load, rate: number, signal: AbortSignal): Promise<void> {
  const began = performance.now();
  await load.run(startRate(load.planned.length, rate));
  const leftMs = Math.max(FIRE_AFTER_LAST_START_MS, MIN_FIRE_MS - (performance.now() - began));
  await sleep(leftMs, undefined, { signal });
}
