/** `npm run chaos -- --orders N --seed S`: exit 0 only when nothing was paid twice, lost or shown, whatever died. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { collectEvidence } from './evidence/collect.js';
import { underFire } from './faults.js';
import { heal } from './healing.js';
import { planOrders } from './inputs.js';
import { folderOf, keepEvidence } from './keep.js';
import { killAll } from './killer.js';
import { Load } from './load.js';
import { countOrders, operate } from './operator.js';
import { type ChaosOptions, readOptions } from './options.js';
import { withProgress } from './progress.js';
import { ratesReached } from './rates.js';
import { courseLines, isClean, judge, killedText, verdictLines } from './report.js';
import { type ChaosStack, startStack } from './stack.js';

/** Killing goes on at least this long in all, and after the last start. */
const MIN_FIRE_MS = 75_000;
const FIRE_AFTER_LAST_START_MS = 20_000;
/** Starts take at least this long. */
const STARTS_SPREAD_S = 50;
/** All orders must be final within this time of healing. */
const FINAL_WITHIN_MS = 5 * 60_000;

const options = readOptions(process.argv);
const folder = folderOf(options.seed);
const aborted = new AbortController();
const print = (line: string): void => void process.stdout.write(`${line}\n`);

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
print(`chaos: ${options.orders} orders, seed ${options.seed}`);
const stack = await startStack(folder, options.seed, (line) => void process.stderr.write(`${line}\n`));
const interrupted = new Promise<'interrupted'>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve('interrupted'));
});
let ended: 'clean' | 'failed' | 'interrupted' = 'failed';
try {
  ended = await Promise.race([runChaos(stack, options), interrupted]);
} finally {
  aborted.abort();
  // Every process ends with the run. What a failed or interrupted one left stays in the folder.
  await stack.stop();
  if (ended === 'clean') await rm(folder, { recursive: true, force: true });
}
process.exit({ clean: 0, failed: 1, interrupted: 130 }[ended]);

async function runChaos(stack: ChaosStack, { orders: count, seed, rate }: ChaosOptions): Promise<'clean' | 'failed'> {
  const ledgerAtStart = await stack.service.ledger();
  await stack.service.set(underFire(seed));
  const load = new Load(
    {
      ...{ orders: stack.orders, receiverUrl: stack.receiverUrl, tokenKey: stack.secrets.tokenKey, seed },
      ledgerFile: join(folder, 'requested.ndjson'),
      signal: aborted.signal,
    },
    planOrders(count, seed),
  );
  const state = async () =>
    `started ${load.accepted.size} of ${count}, ended ${await countOrders(stack.orders, 'closed')}, ${killedText(stack)}`;
  await withProgress('under fire', state, () => fire(stack, load, rate));
  const healedAtMs = await heal(stack);
  const operator = await withProgress('healed', state, () => operate(stack.orders, healedAtMs, FINAL_WITHIN_MS));
  const evidence = await withProgress(
    'oracle',
    async () => '',
    () => collectEvidence(stack, load, ledgerAtStart),
  );
  const judged = judge(evidence, operator);
  for (const line of courseLines(evidence, load, operator)) print(line);
  print(killedText(stack));
  for (const line of ratesReached(evidence, seed, healedAtMs)) print(line);
  for (const line of verdictLines(judged)) print(line);
  if (isClean(judged)) return 'clean';
  await keepEvidence(folder, stack, evidence, judged);
  print(`kept: ${folder}`);
  return 'failed';
}

/** Starts all orders while processes die; returns when both are over. */
async function fire(stack: ChaosStack, load: Load, rate: number): Promise<void> {
  const over = new AbortController();
  const stop = () => over.abort();
  aborted.signal.addEventListener('abort', stop, { once: true });
  const killing = killAll(stack, over.signal);
  const startedAt = performance.now();
  try {
    // Few orders are spread out, so that some of them start at any time while processes die.
    await load.run(Math.min(rate, load.planned.length / STARTS_SPREAD_S));
    const leftMs = Math.max(FIRE_AFTER_LAST_START_MS, MIN_FIRE_MS - (performance.now() - startedAt));
    await sleep(leftMs, undefined, { signal: aborted.signal });
  } finally {
    stop();
    await killing;
  }
}
