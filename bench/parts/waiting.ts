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

/** A service and one small worker, which must live. */
async function siteOf({ stand, options: { pollEvery } }: Bench, product: Product): Promise<OurSite> {
  const env = { ORDER_POLL_INITIAL: `${pollEvery}s`, ORDER_POLL_MAX: `${pollEvery}s` };
  const nodeArgs = [`--max-old-space-size=${HEAP_MB}`];
  const service = await stand.anotherService();
  return stand.ours(`waiting-${product.name}`, { product, service, env, nodeArgs });
}

/** Other orders alone, by each build in turns: what others cost beside those that wait is compared with it. */
async function noneWaiting({ options, say }: Bench, sites: readonly OurSite[], rows: readonly Row[]): Promise<void> {
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const [index, site] of sites.entries()) {
      rows[index]?.rounds.push(await othersRound(site, `other-0-${round}`));
      say(`round ${round} of ${options.rounds}: ${rows[index]?.name}`);
    }
  }
}

/** Ever more that wait, and then end. */
async function grow({ options, say }: Bench, site: OurSite, rows: readonly Row[]): Promise<Record<string, number>> {
  const { waiting, pollEvery, rounds } = options;
  let before = 0;
  for (const [index, count] of waiting.entries()) {
    const executed = await site.service.executed();
    await startWaiting(site, 'waits', executed, executed + count - before);
    before = count;
    for (let round = 1; round <= rounds; round += 1) {
      say(`round ${round} of ${rounds}: ${rows[index]?.name}, one round of ${pollEvery} s, then others`);
      const quiet = await quietRound(site, pollEvery);
      rows[index]?.rounds.push({ ...quiet, ...(await othersRound(site, `other-${count}-${round}`)) });
    }
  }
  return toTheirEnd(site, before, pollEvery);
}

async function measure(bench: Bench): Promise<Table[]> {
  const { waiting, pollEvery } = bench.options;
  const products = productsOf(bench);
  const name = (product: Product, count: number) => `${product.name}, ${count === 0 ? 'none' : count} waiting`;
  const [own, before = own] = products as [Product, Product?];
  const none: Row[] = products.map((product) => ({
    name: name(product, 0),
    ...(product !== before && { against: name(before, 0) }),
    rounds: [],
  }));
  const grown: Row[] = waiting.map((count) => ({ name: name(own, count), against: name(before, 0), rounds: [] }));
  const end: Row = { name: own.name, rounds: [] };
  const notes: string[] = [];
  const sites = await Promise.all(products.map((product) => siteOf(bench, product)));
  await noneWaiting(bench, sites, none);
  const [site, ...others] = sites as [OurSite, ...OurSite[]];
  await Promise.all(others.map((other) => other.stop()));
  try {
    const died = site.workers[0]?.ended.then((how) => Promise.reject(new Error(`its worker ${how}`)));
    end.rounds.push((await Promise.race([grow(bench, site, grown), died])) ?? {});
  } catch (error) {
    notes.push(`${own.name} came to no end: ${(error as Error).message.split('\n', 1)[0]}`);
  }
  await site.stop();
  const title = `waiting orders, polled every ${pollEvery} s`;
  const endTitle = `all at once, by polling every ${pollEvery} s, worker with ${HEAP_MB} MB of heap`;
  return [
    { id: 'waiting', title, figures: FIGURES, rows: [...none, ...grown], notes },
    { id: 'carried', title: endTitle, figures: END_FIGURES, rows: [end] },
  ];
}

/** What orders that wait cost, and whether a small worker carries them to their end. Another build is measured with none waiting. */
export const waiting: Part = {
  name: 'waiting',
  about:
    'requests of orders that wait, others meanwhile, and a worker with 512 MB of heap that carries all to their end',
  measure,
};
