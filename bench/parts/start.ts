import { join } from 'node:path';
import { execa } from 'execa';
import { type Bench, type Part, productsOf } from '../part.js';
import type { Product } from '../product.js';
import type { Figure, Row } from '../table.js';

const FIGURES: readonly Figure[] = [{ id: 'ms', title: 'until it is ready, or done', unit: 'ms', drawn: true }];

const NODE = 'node -e 0';
const ROUNDS = 5;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

const run = (args: string[], env: Record<string, string>, cwd?: string) =>
  execa(process.execPath, args, { env, extendEnv: false, ...(cwd && { cwd }) });

async function workerReadyMs({ stand }: Bench, name: string, product: Product): Promise<number> {
  const site = await stand.ours(name, { product, callbacks: false });
  await site.stop();
  return site.workers[0]?.readyAfterMs ?? Number.NaN;
}

async function measure(bench: Bench) {
  const { stand } = bench;
  const { env } = await stand.emptyNamespace('start-verbs');
  const node: Row = { name: NODE, rounds: [] };
  const kinds = productsOf(bench).map((product) => ({
    product,
    worker: { name: `${product.name}: worker until ready`, against: NODE, rounds: [] } as Row,
    verb: { name: `${product.name}: starter, order list`, against: NODE, rounds: [] } as Row,
  }));
  for (let round = 1; round <= ROUNDS; round += 1) {
    node.rounds.push({ ms: await timed(() => run(['-e', '0'], {})) });
    for (const { product, worker, verb } of kinds) {
      worker.rounds.push({ ms: await workerReadyMs(bench, `start-${round}-${product.name}`, product) });
      const args = [join(product.dist, 'starter.js'), 'order', 'list', '--json'];
      verb.rounds.push({ ms: await timed(() => run(args, env, product.root)) });
    }
  }
  const rows = [node, ...kinds.flatMap(({ worker, verb }) => [worker, verb])];
  return [{ id: 'start', title: 'processes of the built package', figures: FIGURES, rows }];
}

/** How soon processes are of use. */
export const start: Part = {
  name: 'start',
  about: 'until a worker is ready, and a verb of the starter is done',
  measure,
};
