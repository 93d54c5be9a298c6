import { type Contender, contenders, type OpenContender } from '../contenders.js';
import { idleShares, inLanes, usedBy } from '../measure.js';
import type { Bench, Part } from '../part.js';
import type { Stand } from '../stand.js';
import { mean, median } from '../statistics.js';
import type { Figure, Row } from '../table.js';

/** What an order costs. */
const FIGURES: readonly Figure[] = [
  { id: 'ordersPerSecond', title: 'orders/s', drawn: true },
  { id: 'p50Ms', title: 'start to end, p50', unit: 'ms' },
  { id: 'serverCpuMs', title: 'server CPU', unit: 'ms', drawn: true },
  { id: 'workerCpuMs', title: 'worker CPU', unit: 'ms', drawn: true },
  { id: 'events', title: 'events' },
  { id: 'bytes', title: 'bytes of history', drawn: true },
  { id: 'requests', title: 'requests' },
];

/** Orders whose histories are looked at. */
const SAMPLE = 20;

type Opened = Contender & OpenContender;
type Idle = ReadonlyMap<number, number>;

/** Runs orders, so many open at a time, and answers what one of them cost. */
async function costOf(
  stand: Stand,
  contender: OpenContender,
  { label, orders, open, idle }: { label: string; orders: number; open: number; idle: Idle },
): Promise<Record<string, number>> {
  const requestsBefore = await stand.service.requests();
  const tookMs: number[] = [];
  const pids = [stand.serverPid, ...contender.workers.map(({ pid }) => pid)];
  const { seconds, cpuMs } = await usedBy(pids, idle, () =>
    inLanes(orders, open, async (n) => {
      const startedAt = performance.now();
      await contender.run(`${label}-${n}.`);
      tookMs.push(performance.now() - startedAt);
    }),
  );
  const requests = ((await stand.service.requests()) - requestsBefore) / orders;
  const sample = Array.from({ length: Math.min(SAMPLE, orders) }, (_, n) => contender.histories(`${label}-${n}.`));
  const histories = await Promise.all(sample);
  const sums = (of: 'events' | 'bytes') => histories.map((all) => all.reduce((sum, each) => sum + each[of], 0));
  const [serverCpuMs = Number.NaN, workerCpuMs = Number.NaN] = cpuMs.map((ms) => ms / orders);
  const costs = { serverCpuMs, workerCpuMs, events: mean(sums('events')), bytes: mean(sums('bytes')), requests };
  return { ordersPerSecond: orders / seconds, p50Ms: median(tookMs), ...costs };
}

/** One after the other, each warmed up: what is told is a worker that has run for a while. */
async function openAll(
  { stand, options: { open, warmUp }, say }: Bench,
  wanted: readonly Contender[],
): Promise<Opened[]> {
  const opened: Opened[] = [];
  for (const contender of wanted) {
    say(`starting and warming up: ${contender.name}`);
    const one = { ...contender, ...(await contender.open(stand)) };
    await inLanes(Math.ceil(warmUp * (contender.share ?? 1)), open, (n) => one.run(`warm-up-${opened.length}-${n}`));
    opened.push(one);
  }
  return opened;
}

function wantedOf({ options, other }: Bench): readonly Contender[] {
  const all = contenders(other);
  const unknown = options.contenders?.find((name) => !all.some((one) => one.name === name));
  if (unknown !== undefined) throw new Error(`--contenders: of ${all.map(({ name }) => name).join(', ')}`);
  return all.filter(({ name }) => options.contenders?.includes(name) ?? true);
}

async function measure(bench: Bench) {
  const { stand, say, options } = bench;
  const { rounds, open } = options;
  const opened = await openAll(bench, wantedOf(bench));
  const rows: Row[] = opened.map(({ name, against }) => ({ name, ...(against && { against }), rounds: [] }));
  const idle = await idleShares([stand.serverPid, ...opened.flatMap(({ workers }) => workers.map(({ pid }) => pid))]);
  for (let round = 1; round <= rounds; round += 1) {
    // Who goes first takes turns.
    for (const one of round % 2 ? opened : opened.toReversed()) {
      const label = `r${round}-${one.name.replaceAll(' ', '-')}`;
      const orders = Math.ceil(options.orders * (one.share ?? 1));
      const cost = await costOf(stand, one, { label, orders, open, idle });
      rows.find(({ name }) => name === one.name)?.rounds.push(cost);
      say(`round ${round} of ${rounds}: ${one.name}: ${cost.ordersPerSecond?.toFixed(1)} orders/s`);
    }
  }
  const title = `${options.orders} orders, ${open} open`;
  return [{ id: 'orders', title, figures: FIGURES, rows }];
}

/** What an order costs beside the smallest correct workflows of the same shape, and what is often written instead. */
export const orders: Part = {
  name: 'orders',
  about: 'what an order costs, beside the smallest correct workflows and what is often written instead',
  measure,
};
