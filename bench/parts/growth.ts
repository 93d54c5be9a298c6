import { runOrder } from '../contenders.js';
import { idleShares, inLanes, usedBy } from '../measure.js';
import { type Bench, type Part, productsOf } from '../part.js';
import type { Product } from '../product.js';
import type { Figure, Row } from '../table.js';

const FIGURES: readonly Figure[] = [
  { id: 'ordersPerSecond', title: 'orders/s', drawn: true },
  { id: 'serverCpuMs', title: 'server CPU', unit: 'ms', drawn: true },
  { id: 'workerCpuMs', title: 'worker CPU', unit: 'ms', drawn: true },
];

const WARM_UP = 100;

const spanName = (product: string, from: number, to: number): string => `${product}, orders ${from + 1} to ${to}`;

/** What the orders between each two numbers cost, at one worker, in a namespace of its own. */
async function grow({ stand, options: { growth: ends, open } }: Bench, product: Product, round: number) {
  const site = await stand.ours(`growth-${product.name}-${round}`, { product });
  await inLanes(WARM_UP, open, (n) => runOrder(site, `warm-up-${product.name}-${round}-${n}.`));
  const pids = [stand.serverPid, ...site.workers.map(({ pid }) => pid)];
  const idle = await idleShares(pids);
  const costs: Record<string, number>[] = [];
  for (const [index, to] of ends.entries()) {
    const from = ends[index - 1] ?? 0;
    const { seconds, cpuMs } = await usedBy(pids, idle, () =>
      inLanes(to - from, open, (n) => runOrder(site, `growth-${product.name}-${round}-${from + n}.`)),
    );
    const [serverCpuMs = Number.NaN, workerCpuMs = Number.NaN] = cpuMs.map((ms) => ms / (to - from));
    costs.push({ ordersPerSecond: (to - from) / seconds, serverCpuMs, workerCpuMs });
  }
  await site.stop();
  return costs;
}

async function measure(bench: Bench) {
  const { options, say } = bench;
  const { growth: ends, open, rounds } = options;
  const rows: Row[] = productsOf(bench).flatMap(({ name }) =>
    ends.map((to, index) => ({
      name: spanName(name, ends[index - 1] ?? 0, to),
      ...(index > 0 && { against: spanName(name, 0, ends[0] ?? 0) }),
      rounds: [],
    })),
  );
  for (let round = 1; round <= rounds; round += 1) {
    for (const [at, product] of productsOf(bench).entries()) {
      const costs = await grow(bench, product, round);
      for (const [index, cost] of costs.entries()) rows[at * ends.length + index]?.rounds.push(cost);
      const told = costs.map(({ ordersPerSecond }) => ordersPerSecond?.toFixed(1)).join(', ');
      say(`round ${round} of ${rounds}: ${product.name}: ${told} orders/s`);
    }
  }
  return [{ id: 'growth', title: `by callback, ${open} open`, figures: FIGURES, rows }];
}

/** Whether an order costs more after many. */
export const growth: Part = { name: 'growth', about: 'what an order costs after ever more of them', measure };
