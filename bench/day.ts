/**
 * A day of orders on paper, by measured costs: `node --import tsx bench/day.ts [--bench report.json] [--page docs/scaling.md]`.
 * Arrivals depend on the seed alone, so that the same figures make the same day.
 */
import { Command } from 'commander';
import { costsOf, PAPER } from './day/costs.js';
import { actionsTable, dayTable, sizesTable } from './day/tables.js';
import { publish, readReports } from './report.js';

const SIZES = [10_000, 1_000_000, 10_000_000];
const RUNS = ['plain-withdraw', 'plain-exchange-withdraw', 'plain-deposit', 'polled', 'received', 'partial-cancelled'];

const options = new Command('day')
  .option('--orders <n>', 'orders of the day', Number, 1_000_000)
  .option('--limit <n>', "the account's limit, requests a second", Number, 40)
  .option('--open <minutes>', 'how long an order is open', Number, 5)
  .option('--poll <minutes>', 'how often a waiting order is asked about', Number, 5)
  .option('--seed <text>', 'decides the arrivals', '1')
  .option('--bench <file...>', 'what npm run bench -- --json wrote; without it the figures of the issue')
  .option('--page <file>', 'the page whose tables are filled')
  .option('--charts <folder>', 'where the charts go')
  .option('--json <file>', 'where the figures go')
  .parse()
  .opts();

const { costs, measured } = options.bench
  ? costsOf(await readReports(options.bench))
  : { costs: PAPER, measured: [] as string[] };
const day = {
  ...{ orders: options.orders, limit: options.limit, seed: options.seed },
  ...{ openMinutes: options.open, pollEveryMinutes: options.poll },
};
const facts = {
  seed: day.seed,
  'open for': `${day.openMinutes} min`,
  'asked every': `${day.pollEveryMinutes} min`,
  ...Object.fromEntries(
    Object.entries(costs).map(([name, value]) => [
      name,
      `${Number(value.toPrecision(3))}${measured.some((it) => it === name) ? '' : ' (paper)'}`,
    ]),
  ),
};
const tables = [await sizesTable(SIZES, day, costs), dayTable(day, costs), await actionsTable(RUNS)];
await publish({ runs: [{ facts, tables }] }, options);
