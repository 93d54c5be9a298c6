import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { runOrder } from '../contenders.js';
import { type Bench, type Part, productsOf } from '../part.js';
import type { BenchProcess } from '../processes.js';
import type { Product } from '../product.js';
import { type Arrival, DURATIONS_MS } from '../service.js';
import type { OurSite } from '../stand.js';
import { percentile } from '../statistics.js';
import type { Figure, Row, Table } from '../table.js';
import { startWaiting } from './memory.js';

const FIGURES: readonly Figure[] = [
  { id: 'requestsPerRound', title: 'requests of the waiting orders a polling round', drawn: true },
  { id: 'p50Ms', title: 'final to result of others, p50', unit: 'ms', drawn: true },
  { id: 'p99Ms', title: 'p99', unit: 'ms' },
  { id: 'rssMb', title: "worker's memory, resident", unit: 'MB', drawn: true },
];
const END_FIGURES: readonly Figure[] = [
  { id: 'orders', title: 'orders' },
  { id: 'ended', title: 'completed' },
  { id: 'endSeconds', title: 'from final to the last result', unit: 's', drawn: true },
  { id: 'peakMb', title: "worker's memory at its most, resident", unit: 'MB', drawn: true },
];

/** Heap of the worker, in MB: it must carry all of them. */
const HEAP_MB = 512;
/** Other orders that come meanwhile, a second. */
const OTHERS_PER_SECOND = 4;
const OTHERS = 80;
/** Orders that are final and not seen so after so many rounds of the polling are given up. */
const ROUNDS_TO_END = 6;
const MB_IN_KB = 1_024;

/** Memory of a process as Linux tells it: `VmRSS` now, `VmHWM` at its most. */
async function memoryMb(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1]) / MB_IN_KB;
}

/** Lets other orders come at a steady pace; when each had its result, ms since the epoch, by order id. */
async function others(site: OurSite, label: string): Promise<Map<string, number>> {
  const doneAtMs = new Map<string, number>();
  const running: Promise<void>[] = [];
  for (let n = 0; n < OTHERS; n += 1) {
    const orderId = `${label}-${n}.`;
    running.push(runOrder(site, orderId).then(() => void doneAtMs.set(orderId, Date.now())));
    await sleep(1_000 / OTHERS_PER_SECOND);
  }
  await Promise.all(running);
  return doneAtMs;
}

/** From the moment at which an order was final at the service, which called back, to its result. */
export function latenciesOf(doneAtMs: ReadonlyMap<string, number>, arrivals: readonly Arrival[]): number[] {
  return arrivals.flatMap(({ orderId = '', path, atMs }) => {
    const done = doneAtMs.get(orderId);
    return done === undefined || !path.endsWith('/withdraw') ? [] : [done - atMs - DURATIONS_MS.execute];
  });
}

/** What the service is asked in one round of the polling in which nothing else happens. */
async function quietRound({ service }: OurSite, pollEvery: number): Promise<{ requestsPerRound: number }> {
  const sinceMs = Date.now();
  await sleep(pollEvery * 1_000);
  return { requestsPerRound: (await service.arrivals(sinceMs)).length };
}

/** Other orders at a steady pace. */
async function othersRound(site: OurSite, label: string): Promise<Record<string, number>> {
  const busySinceMs = Date.now();
  const doneAtMs = await others(site, label);
  const latencies = latenciesOf(doneAtMs, await site.service.arrivals(busySinceMs));
  return {
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    rssMb: await memoryMb((site.workers[0] as BenchProcess).pid, 'VmRSS'),
  };
}

/** All become final at once, and no callback tells the waiting ones. */
async function toTheirEnd(site: OurSite, count: number, pollEvery: number): Promise<Record<string, number>> {
  const completed = async () => (await site.client.workflow.count('ExecutionStatus="Completed"')).count;
  const [before, startedAtMs] = [await completed(), Date.now()];
  await site.service.finishAll();
  let ended = 0;
  while (ended < count && Date.now() - startedAtMs < pollEvery * ROUNDS_TO_END * 1_000) {
    await sleep(500);
    ended = (await completed()) - before;
  }
  const endSeconds = ended < count ? Number.NaN : (Date.now() - startedAtMs) / 1_000;
  const peakMb = await memoryMb((site.workers[0] as BenchProcess).pid, 'VmHWM');
  return { orders: count, ended, endSeconds, peakMb };
}

/** What waits, in growing numbers, and then ends; what could not be measured because the worker died is not there. */
async function measureProduct(bench: Bench, product: Product, rows: readonly Row[], end: Row) {
  const { stand, options } = bench;
  const { pollEvery } = options;
  const env = { ORDER_POLL_INITIAL: `${pollEvery}s`, ORDER_POLL_MAX: `${pollEvery}s` };
  const nodeArgs = [`--max-old-space-size=${HEAP_MB}`];
  const service = await stand.anotherService();
  const site = await stand.ours(`waiting-${product.name}`, { product, service, env, nodeArgs });
  const died = site.workers[0]?.ended.then((how) => Promise.reject(new Error(`its worker ${how}`)));
  await Promise.race([grow(bench, product.name, site, rows, end), died]);
  await site.stop();
}

async function grow({ options, say }: Bench, name: string, site: OurSite, rows: readonly Row[], end: Row) {
  const { waiting, pollEvery } = options;
  let before = 0;
  for (const [index, count] of [0, ...waiting].entries()) {
    say(`${name}: ${count} waiting orders, one round of ${pollEvery} s`);
    const others = index * OTHERS;
    await startWaiting(site, 'waits', before + others, count + others);
    before = count;
    const quiet = count > 0 ? await quietRound(site, pollEvery) : {};
    rows[index]?.rounds.push({ ...quiet, ...(await othersRound(site, `other-${count}`)) });
  }
  end.rounds.push(await toTheirEnd(site, before, pollEvery));
}

const untilDeath = async (bench: Bench, product: Product, rows: readonly Row[], end: Row): Promise<string[]> => {
  try {
    await measureProduct(bench, product, rows, end);
    return [];
  } catch (error) {
    return [`${product.name} came to no end: ${(error as Error).message.split('\n', 1)[0]}`];
  }
};

async function measure(bench: Bench): Promise<Table[]> {
  const { waiting, pollEvery } = bench.options;
  const [rows, ends, notes]: [Row[], Row[], string[]] = [[], [], []];
  for (const product of productsOf(bench)) {
    const name = (count: number) => `${product.name}, ${count === 0 ? 'none' : count} waiting`;
    const mine: Row[] = [0, ...waiting].map((count) => ({
      name: name(count),
      ...(count > 0 && { against: name(0) }),
      rounds: [],
    }));
    const end: Row = { name: product.name, rounds: [] };
    rows.push(...mine);
    ends.push(end);
    notes.push(...(await untilDeath(bench, product, mine, end)));
  }
  const title = `waiting orders, polled every ${pollEvery} s`;
  const endTitle = `all at once, by polling every ${pollEvery} s, worker with ${HEAP_MB} MB of heap`;
  return [
    { id: 'waiting', title, figures: FIGURES, rows, notes },
    { id: 'carried', title: endTitle, figures: END_FIGURES, rows: ends },
  ];
}

/** What orders that wait cost, and whether a small worker carries them to their end. */
export const waiting: Part = {
  name: 'waiting',
  about:
    'requests of orders that wait, others meanwhile, and a worker with 512 MB of heap that carries all to their end',
  measure,
};
