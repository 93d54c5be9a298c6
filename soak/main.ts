/** `npm run soak -- --hours N`: exit 0 only if nothing was lost or paid twice, and no figure grew. */
import { setMaxListeners } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { factsOf } from '../bench/facts.js';
import { otherProduct } from '../bench/product.js';
import { publish } from '../bench/report.js';
import { loopback } from '../chaos/environment.js';
import { type End, folderOf, keepEvidence, runToEnd } from '../chaos/keep.js';
import { ROOT } from '../chaos/product.js';
import { auditText, courseLines, isClean, killedText, searchedLine, verdictLines } from '../chaos/report.js';
import { type ChaosStack, startStack } from '../chaos/stack.js';
import { Supervised } from '../chaos/supervised.js';
import { freePort } from '../scripts/temporal/dev-server.js';
import { EventReceiver } from './event-receiver.js';
import { judgeFlatness, soakTable } from './flatness.js';
import { readOptions } from './options.js';
import { soak } from './run.js';

const WORKERS = 3;
/** For compiling, the drain and the oracle; a run of hours needs more of it. */
const SPARE_MS = 30 * 60_000;
/** Sums that no run reaches. */
const GENEROUS = ['usd', 'eur', 'uah', 'usdt', 'btc', 'eth'].map((currency) => ({
  ...{ rule: 'sum', per: 'day', currency, max: '1000000000000', breach: 'park' },
}));

const options = readOptions(process.argv);
const { minutes, rate, seed, temporal, against } = options;
const folder = folderOf(`soak-${seed}`);
const aborted = new AbortController();
// Each wait of the load listens.
setMaxListeners(0, aborted.signal);
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const log = (line: string): void => void process.stderr.write(`${line}\n`);

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
await mkdir(dirname(options.samples), { recursive: true });
await rm(options.samples, { force: true });
const title = `${rate} orders a second for ${Math.round(minutes)} min`;
print(`soak: ${title}, seed ${seed}, Temporal on ${temporal === 'dev' ? 'SQLite' : 'PostgreSQL'}`);
await runToEnd(folder, run, `; samples: ${options.samples}`);

/** Starts everything, and ends it however the run ends. */
async function run(): Promise<End> {
  const interrupted = new Promise<End>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve('interrupted'));
  });
  const parts: { stop(): Promise<void> }[] = [];
  try {
    const receiver = await EventReceiver.open();
    parts.push(receiver);
    const files = { EVENTS_FILE: join(folder, 'events.json'), POLICY_FILE: join(folder, 'policy.json') };
    await writeFile(files.EVENTS_FILE, receiver.file, { mode: 0o600 });
    await writeFile(files.POLICY_FILE, JSON.stringify({ accounts: { default: GENEROUS } }), { mode: 0o600 });
    const other = against === undefined ? undefined : await otherProduct(against);
    const setting = {
      seed,
      workers: WORKERS,
      worker: files,
      ...(temporal === 'postgres' && { postgres: true as const }),
    };
    const stack = await startStack(folder, setting, log);
    parts.push(stack);
    const api = await startApi(stack, parts);
    const versions = [dirname(stack.starter.script), ...(other ? [other.dist] : [])];
    const judged = soak({ ...{ stack, receiver, versions, options, signal: aborted.signal }, ...api }).then((result) =>
      report(stack, result),
    );
    return await Promise.race([judged, interrupted, tooLate()]);
  } finally {
    aborted.abort();
    for (const part of parts.reverse()) await part.stop();
  }
}

async function startApi({ starter }: ChaosStack, parts: { stop(): Promise<void> }[]) {
  const port = await freePort();
  const api = new Supervised({
    ...{ name: 'api', cwd: ROOT, logFile: join(folder, 'logs', 'api.log') },
    args: [join(dirname(starter.script), 'api.js')],
    env: { ...starter.env, API_ADDRESS: `127.0.0.1:${port}` },
  });
  parts.push(api);
  await api.whenReady();
  return { api, apiUrl: loopback(port) };
}

/** Fails a run that hangs. */
async function tooLate(): Promise<End> {
  const limitMs = minutes * 60_000 * 1.5 + SPARE_MS;
  await sleep(limitMs, undefined, { ref: false });
  log(`not over after ${Math.round(limitMs / 1_000)} s`);
  return 'failed';
}

async function report(stack: ChaosStack, result: Awaited<ReturnType<typeof soak>>): Promise<End> {
  const { evidence, load, operator, samples, startedAtMs } = result;
  const table = soakTable(samples, startedAtMs, minutes * 60_000, title);
  const judged = [...result.judged, ...judgeFlatness(table)];
  for (const line of courseLines(evidence, load, operator)) print(line);
  for (const line of [killedText(stack), auditText(evidence), searchedLine(evidence)]) print(line);
  const facts = await factsOf(temporal === 'dev' ? 'dev server, SQLite in a file' : 'PostgreSQL', seed);
  await publish({ runs: [{ facts, tables: [table] }] }, options);
  for (const line of verdictLines(judged)) print(line);
  if (isClean(judged)) return 'clean';
  await keepEvidence(folder, stack, evidence, judged);
  return 'failed';
}
