/**
 * What a row of a batch costs the Temporal server, compared with a withdraw that is started and awaited by itself:
 * `node --import tsx bench/batch-overhead.ts [rows] [rounds]`. Rounds alternate, so that a busy machine slows both down.
 */
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Installation, openInstallation } from '../scripts/replay/installation.js';
import { startBatch } from '../src/client/batches.js';
import { cpuSeconds } from './cpu-seconds.js';

const LIMIT = 1.2;
const AT_ONCE = 100;
const IDLE_MS = 10_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const [rows = 300, rounds = 5] = process.argv.slice(2).map(Number);

const requestOf = (orderId: string) =>
  ({ order_id: orderId, currency: 'usd', network: 'card', amount: '12.50', wallet: '4111111111111111' }) as const;

/** Withdraws started by themselves, as many open at a time as a batch has, each awaited to its end. */
async function plain({ orders }: Installation, label: string): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < rows) {
      next += 1;
      const handle = await orders.start('withdraw', { order: requestOf(`${label}-${next}`) });
      await handle.result();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

/** The same withdraws as a batch, with check, plan and report. */
async function batch({ client }: Installation, label: string, folder: string): Promise<void> {
  const lines = Array.from({ length: rows }, (_, index) => Object.values(requestOf(`${label}-${index + 1}`)).join(','));
  await writeFile(join(folder, `${label}.csv`), `${Object.keys(requestOf('')).join(',')}\n${lines.join('\n')}\n`);
  const input = { batchId: label, file: { path: `${label}.csv` }, startedBy: 'bench', maxInFlight: AT_ONCE };
  const { outcomes } = await (await startBatch(client, input)).result();
  if (outcomes.completed !== rows) throw new Error(`${outcomes.completed} of ${rows} rows completed`);
}

/** CPU seconds that the server used during some work, and how many seconds that took. */
async function usedBy(
  { serverPid }: Installation,
  work: () => Promise<unknown>,
): Promise<{ cpu: number; wall: number }> {
  const [before, begun] = [await cpuSeconds(serverPid), performance.now()];
  await work();
  return { cpu: (await cpuSeconds(serverPid)) - before, wall: (performance.now() - begun) / 1000 };
}

/** Milliseconds of server CPU for one row, without what the server uses while nothing happens. */
async function costOf(installation: Installation, idleShare: number, work: () => Promise<void>): Promise<number> {
  const { cpu, wall } = await usedBy(installation, work);
  const cost = ((cpu - idleShare * wall) * 1000) / rows;
  say(`  ${cost.toFixed(1)} ms of server CPU a row, ${wall.toFixed(1)} s`);
  return cost;
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const folder = await realpath(await mkdtemp(join(tmpdir(), 'batch-overhead-')));
const installation = await openInstallation(say, {
  BATCH_DIR: folder,
  // Callbacks end the orders of both; a poll now and then would only add noise.
  ORDER_POLL_INITIAL: '5m',
  ORDER_POLL_MAX: '5m',
});
try {
  await plain(installation, 'warm-up');
  const idle = await usedBy(installation, () => sleep(IDLE_MS));
  const idleShare = idle.cpu / idle.wall;
  say(`idle: ${(idleShare * 100).toFixed(1)} % of a core`);
  const [plainCosts, batchCosts]: [number[], number[]] = [[], []];
  for (let round = 1; round <= rounds; round += 1) {
    say(`round ${round} of ${rounds}: plain withdraws, then a batch`);
    plainCosts.push(await costOf(installation, idleShare, () => plain(installation, `plain-${round}`)));
    batchCosts.push(await costOf(installation, idleShare, () => batch(installation, `batch-${round}`, folder)));
  }
  const [one, row] = [median(plainCosts), median(batchCosts)];
  const ratio = row / one;
  say(`median: plain ${one.toFixed(1)} ms, batch row ${row.toFixed(1)} ms, ratio ${ratio.toFixed(2)} (limit ${LIMIT})`);
  process.exitCode = ratio <= LIMIT ? 0 : 1;
} finally {
  await installation.close();
  await rm(folder, { recursive: true, force: true });
}
