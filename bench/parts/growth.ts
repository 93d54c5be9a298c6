import { runOrder } from '../contenders.js';
import { idleShares, inLanes, usedBy } from '../measure.js';
import { type Bench, type Part, productsOf } from '../part.js';
import type { Figure, Row } from '../table.js';

const FIGURES: readonly Figure[] = [
  { id: 'ordersPerSecond', title: 'orders/s', drawn: true },
  { id: 'serverCpuMs', title: 'server CPU', unit: 'ms', drawn: true },
  { id: 'workerCpuMs', title: 'worker CPU', unit: 'ms', drawn: true },
];

const WARM_UP = 100;

const spanName = (product: string, from: number, to: number): string => `${product}, orders ${from + 1} to ${to}`;

async function measure(bench: Bench) {
  const { stand, options, say } = bench;
  const { growth: ends, open } = options;
  const rows: Row[] = [];
  for (const product of productsOf(bench)) {
    const site = await stand.ours(`growth-${product.name}`, { product });
    await inLanes(WARM_UP, open, (n) => runOrder(site, `warm-up-${product.name}-${n}.`));
    const pids = [stand.serverPid, ...site.workers.map(({ pid }) => pid)];
    const idle = await idleShares(pids);
    for (const [index, to] of ends.entries()) {
      const from = ends[index - 1] ?? 0;
      const { seconds, cpuMs } = await usedBy(pids, idle, () =>
        inLanes(to - from, open, (n) => runOrder(site, `growth-${product.name}-${from + n}.`)),
      );
      const [serverCpuMs = Number.NaN, workerCpuMs = Number.NaN] = cpuMs.map((ms) => ms / (to - from));
      const against = index > 0 && spanName(product.name, 0, ends[0] ?? 0);
      const round = { ordersPerSecond: (to - from) / seconds, serverCpuMs, workerCpuMs };
      rows.push({ name: spanName(product.name, from, to), ...(against && { against }), rounds: [round] });
      say(`${product.name}: ${to} orders: ${round.ordersPerSecond.toFixed(1)} orders/s`);
    }
    await site.stop();
  }
  return [{ id: 'growth', title: `by callback, ${open} open`, figures: FIGURES, rows }];
}

/** Whether an order costs more after many. */
export const growth: Part = { name: 'growth', about: 'what an order costs after ever more of them', measure };
