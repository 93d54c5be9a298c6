/** `npm run chaos -- --orders N --seed S`: exit 0 only when nothing was paid twice, lost or shown, whatever died. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BATCH_WITHIN_MS, planBatch, runBatch } from './batch.js';
import { collectEvidence } from './evidence/collect.js';
import { underFire } from './faults.js';
import { fire, fireMs } from './fire.js';
import { heal } from './healing.js';
import { planOrders } from './inputs.js';
import { Interference } from './interference.js';
import { type End, folderOf, keepEvidence, runToEnd } from './keep.js';
import { scheduleText } from './killer.js';
import { Load } from './load.js';
import { lookAround } from './look-around.js';
import { countOrders, operate } from './operator.js';
import { type ChaosOptions, readOptions } from './options.js';
import { withProgress } from './progress.js';
import { forgedText, ratesReached } from './rates.js';
import { auditText, courseLines, isClean, judge, killedText, searchedLine, verdictLines } from './report.js';
import { type ChaosStack, startStack } from './stack.js';

/** After healing, an order must end within this time, until all are final. How many end in it depends on the machine. */
const FINAL_WITHIN_MS = 5 * 60_000;
/** Orders that surely become final within `FINAL_WITHIN_MS`. */
const ORDERS_WITHIN = 300;
/** For compiling, restarts and the oracle. */
const SPARE_MS = 5 * 60_000;

const options = readOptions(process.argv);
const folder = folderOf(options.seed);
const aborted = new AbortController();
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const log = (line: string): void => void process.stderr.write(`${line}\n`);

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const { orders, seed, plain, postgres } = options;
const setting = `payloads ${plain ? 'plain' : 'encrypted'}${postgres ? ', Temporal on PostgreSQL' : ''}`;
print(`chaos: ${orders} orders, seed ${seed}, ${setting}; kills: ${scheduleText()}`);
await runToEnd(folder, run);

/** Every process ends with the run, however it ends. */
async function run(): Promise<End> {
  const interrupted = new Promise<End>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve('interrupted'));
  });
  const stack = await startStack(folder, options, log);
  try {
    return await Promise.race([runChaos(stack, options), interrupted, tooLate(options)]);
  } finally {
    aborted.abort();
    await stack.stop();
  }
}

/** A run that hangs has failed. */
async function tooLate({ orders, rate }: ChaosOptions): Promise<End> {
  const finalMs = Math.ceil(orders / ORDERS_WITHIN) * FINAL_WITHIN_MS;
  const limitMs = fireMs(orders, rate) + finalMs + BATCH_WITHIN_MS + SPARE_MS;
  await sleep(limitMs, undefined, { ref: false });
  log(`not over after ${Math.round(limitMs / 1000)} s`);
  return 'failed';
}

async function runChaos(stack: ChaosStack, options: ChaosOptions): Promise<End> {
  const { orders: count, seed } = options;
  const ledgerAtStart = await stack.service.ledger();
  await stack.service.set(underFire(seed));
  const load = new Load(
    {
      ...{
        orders: stack.orders,
        failover: stack.failover,
        receiverUrl: stack.receiverUrl,
        tokenKey: stack.secrets.tokenKey,
        seed,
      },
      ledgerFile: join(folder, 'requested.ndjson'),
      signal: aborted.signal,
    },
    planOrders(count, seed),
  );
  const interference = new Interference(stack.orders, seed);
  const state = async () =>
    `started ${load.accepted.size} of ${count}, ended ${await countOrders(stack.orders, 'closed')}, ${killedText(stack)}`;
  await withProgress('under fire', state, () => fire(stack, load, interference, options, aborted.signal));
  const healedAtMs = await heal(stack);
  const operator = await withProgress('healed', state, () => operate(stack, healedAtMs, FINAL_WITHIN_MS));
  const batch = planBatch(seed);
  const { choices } = operator;
  const isFinal = operator.allFinalAfterMs !== undefined;
  const [approved] = await withProgress(
    'batch',
    async () => '',
    () => Promise.all([isFinal ? runBatch(stack, batch) : undefined, lookAround(stack, load, batch.batchId)]),
  );
  if (approved) {
    choices.push(approved);
    for (const { orderId } of batch.rows) load.accepted.add(orderId);
    // Nothing is sent after the batch: no later order shows that rows whose worker was killed are absent.
    const { parks, decisions } = operator;
    const rest = { parks, decisions, choices };
    const ended = await withProgress('rows', state, () => operate(stack, Date.now(), FINAL_WITHIN_MS, rest));
    if (ended.allFinalAfterMs === undefined) operator.allFinalAfterMs = undefined;
  }
  const batched = approved ? [...batch.rows, { orderId: batch.batchId, input: batch.said }] : [];
  const evidence = await withProgress(
    'oracle',
    async () => '',
    () => collectEvidence(stack, load, { batched, choices, ledgerAtStart, endedRuns: interference.endedRuns }),
  );
  const judged = judge(evidence, operator);
  for (const line of courseLines(evidence, load, operator)) print(line);
  print(killedText(stack));
  for (const line of ratesReached(evidence, seed, healedAtMs)) print(line);
  print(forgedText(load));
  print(interference.text);
  print(`sent before the failover and forgotten by Temporal: ${stack.failover.sent.size}`);
  print(auditText(evidence));
  print(searchedLine(evidence));
  for (const line of verdictLines(judged)) print(line);
  if (isClean(judged)) return 'clean';
  await keepEvidence(folder, stack, evidence, judged);
  return 'failed';
}
