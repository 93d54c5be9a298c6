import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { REQUEST, runOrder } from '../contenders.js';
import { inLanes } from '../measure.js';
import { type Bench, type Part, productsOf } from '../part.js';
import type { BenchProcess } from '../processes.js';
import type { OurSite } from '../stand.js';
import type { Figure, Row } from '../table.js';

const FIGURES: readonly Figure[] = [
  { id: 'rssMb', title: 'resident, all', unit: 'MB' },
  { id: 'heapMb', title: 'heaps, all', unit: 'MB' },
  { id: 'rssPerOrder', title: 'resident an order', unit: 'MB', drawn: true },
  { id: 'heapPerOrder', title: 'heap an order', unit: 'MB', drawn: true },
];

const PROBE = fileURLToPath(new URL('../memory-probe.mjs', import.meta.url));
const WARM_UP = 50;
const LANES = 50;
/** Until what the last orders left is done with. */
const REST_MS = 3_000;
const MB = 2 ** 20;

interface Memory {
  rssMb: number;
  heapMb: number;
}

/** After garbage was collected in every thread. */
async function memoryOf(worker: BenchProcess): Promise<Memory> {
  const told = worker.line('memory ');
  worker.signal('SIGUSR2');
  const [, rss, heap] = /rss=(\d+) heap=(\d+)/.exec(await told) ?? [];
  return { rssMb: Number(rss) / MB, heapMb: Number(heap) / MB };
}

/** Starts orders that wait for a callback until they are told to end, and resolves when the service has all of them. */
export async function startWaiting(
  { orders, service }: OurSite,
  label: string,
  from: number,
  to: number,
  tick: () => void = () => {},
): Promise<void> {
  const description = '[sandbox after_ms=86400000 callback=drop]';
  await inLanes(to - from, LANES, async (n) => {
    await orders.create('withdraw', { order: { order_id: `${label}-${from + n}.`, ...REQUEST, description } });
    tick();
  });
  while ((await service.executed()) < to) await sleep(200);
}

/** One worker that gets ever more orders which wait; its memory at each number, and what an order added. */
async function measureProduct(bench: Bench, site: OurSite, counts: readonly number[], into: readonly Row[]) {
  const worker = site.workers[0] as BenchProcess;
  await inLanes(WARM_UP, LANES, (n) => runOrder(site, `warm-up-${n}.`));
  await sleep(REST_MS);
  const base = await memoryOf(worker);
  into[0]?.rounds.push({ ...base });
  let before = 0;
  for (const [index, count] of counts.entries()) {
    await startWaiting(site, 'waits', WARM_UP + before, WARM_UP + count);
    before = count;
    await sleep(REST_MS);
    const now = await memoryOf(worker);
    const rssPerOrder = (now.rssMb - base.rssMb) / count;
    const heapPerOrder = (now.heapMb - base.heapMb) / count;
    into[index + 1]?.rounds.push({ ...now, rssPerOrder, heapPerOrder });
    bench.say(`${count} orders: ${rssPerOrder.toFixed(2)} MB resident, ${heapPerOrder.toFixed(2)} MB of heap each`);
  }
}

async function measure(bench: Bench) {
  const { stand, options } = bench;
  const rows: Row[] = [];
  for (const product of productsOf(bench)) {
    const own = product === stand.own;
    const name = (count: number, of = product.name) => `${of}, ${count} cached orders`;
    const mine: Row[] = [0, ...options.cached].map((count) => ({
      name: name(count),
      ...(!own && { against: name(count, stand.own.name) }),
      rounds: [],
    }));
    rows.push(...mine);
    const service = await stand.anotherService();
    const nodeArgs = ['--expose-gc', '--import', PROBE];
    const site = await stand.ours(`memory-${product.name}`, { product, service, nodeArgs });
    await measureProduct(bench, site, options.cached, mine);
    await site.stop();
  }
  const notes = ['After a collection of garbage in every thread; resident memory also holds what is free again.'];
  return [{ id: 'memory', title: 'a worker process', figures: FIGURES, rows, notes }];
}

/** What a cached order takes. */
export const memory: Part = { name: 'memory', about: 'megabytes of a worker for each cached order', measure };
