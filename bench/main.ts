/**
 * `npm run bench [-- --orders 300 --open 50 --rounds 3 --only "ours by callback,ours encrypted" --json file]`: what an order
 * costs, beside the smallest correct workflows of the same shape and what is often written instead. Everything shares one server
 * and one service; rounds take turns, so that a busy machine slows all of them down. Quote ratios, never a figure by itself.
 */
import { writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { CONTENDERS } from './contenders.js';
import { type Cost, costOf, FIGURES, idleShare, median } from './measure.js';
import { Stand } from './stand.js';

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const program = new Command()
  .option('--orders <n>', 'orders a round', Number, 300)
  .option('--open <n>', 'orders open at a time', Number, 50)
  .option('--rounds <n>', 'rounds', Number, 3)
  .option('--only <names>', 'contenders, separated by commas')
  .option('--json <file>', 'where all figures go')
  .parse();
const { orders, open, rounds, only, json } = program.opts<{
  orders: number;
  open: number;
  rounds: number;
  only?: string;
  json?: string;
}>();
const named = only?.split(',');
const wanted = CONTENDERS.filter(({ name }) => named?.includes(name) ?? true);
if (wanted.length === 0) program.error(`--only: one or more of ${CONTENDERS.map(({ name }) => name).join(', ')}`);

const stand = await Stand.open(say);
try {
  const costs = new Map<string, Cost[]>();
  const opened = [];
  for (const contender of wanted) {
    say(`starting and warming up: ${contender.name}`);
    const one = await contender.open(stand);
    const warmUp = { orders: open, open, idle: { server: 0, worker: 0 } };
    await costOf(stand, one, { label: `warm-up-${opened.length}`, ...warmUp });
    opened.push({ ...contender, ...one });
  }
  const server = await idleShare(stand.serverPid);
  const idle = new Map<string, number>();
  for (const { name, workerPid } of opened) idle.set(name, await idleShare(workerPid));
  for (let round = 1; round <= rounds; round += 1) {
    // Who goes first takes turns.
    for (const one of round % 2 ? opened : opened.toReversed()) {
      const label = `r${round}-${one.name.replaceAll(' ', '-')}`;
      const cost = await costOf(stand, one, { label, orders, open, idle: { server, worker: idle.get(one.name) ?? 0 } });
      costs.set(one.name, [...(costs.get(one.name) ?? []), cost]);
      say(`round ${round}: ${one.name}: ${cost.ordersPerSecond.toFixed(1)} orders/s`);
    }
  }
  const middle = (name: string, figure: (typeof FIGURES)[number]) =>
    median((costs.get(name) ?? []).map((cost) => cost[figure]));
  const lines = wanted.map(({ name, against }) => {
    const cells = FIGURES.map((figure) => {
      const [own, other] = [middle(name, figure), against && costs.has(against) ? middle(against, figure) : undefined];
      return `${own.toFixed(own < 100 ? 1 : 0)}${other ? ` (${(own / other).toFixed(2)} ×)` : ''}`;
    });
    return `| ${name} | ${against ?? ''} | ${cells.join(' | ')} |`;
  });
  process.stdout.write(
    `| medians of ${rounds} rounds, ${orders} orders, ${open} open | ratios to | ${FIGURES.join(' | ')} |\n`,
  );
  process.stdout.write(`|${'---|'.repeat(FIGURES.length + 2)}\n${lines.join('\n')}\n`);
  if (json) await writeFile(json, JSON.stringify(Object.fromEntries(costs), undefined, 2));
} finally {
  await stand.close();
}
