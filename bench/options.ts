import { Command, InvalidArgumentError } from 'commander';

/** How much of everything. */
export interface Sizes {
  /** Rounds of what takes turns. */
  rounds: number;
  /** Orders a round, and how many are open at a time. */
  orders: number;
  open: number;
  /** Orders that each has run before: V8 optimises what runs often, ours later than what is smaller. */
  warmUp: number;
  /** Limits of the account, requests a second; 0: none. */
  limits: readonly number[];
  /** Rows of a batch; undefined: what a limit lets pass in some seconds. */
  rows?: number;
  /** Numbers of orders that wait, growing. */
  waiting: readonly number[];
  /** Seconds between two polls of an order that waits. */
  pollEvery: number;
  /** Numbers of orders at which their cost is told, growing. */
  growth: readonly number[];
  /** Numbers of cached orders, growing. */
  cached: readonly number[];
  /** Callbacks, and requests, that are sent to each. */
  requests: number;
}

/** What is measured unless told otherwise: 12 minutes on two cores. */
const USUAL: Sizes = {
  ...{ rounds: 3, orders: 100, open: 50, warmUp: 50, limits: [8, 20, 40, 0] },
  ...{ waiting: [250, 1_000], pollEvery: 20, growth: [200, 700], cached: [250, 500], requests: 1_000 },
};

/** `--full`. */
const FULL: Sizes = {
  ...{ rounds: 3, orders: 300, open: 50, warmUp: 1_800, limits: [8, 20, 40, 0], rows: 1_000 },
  ...{ waiting: [1_000, 5_000], pollEvery: 60, growth: [300, 1_000, 4_000], cached: [250, 500], requests: 3_000 },
};

/** Everything that a run is told. */
export interface Options extends Sizes {
  /** The large sizes were asked for. */
  full: boolean;
  /** Names of parts. */
  only?: readonly string[];
  /** Names of contenders of the part `orders`. */
  contenders?: readonly string[];
  /** Folder of another built checkout. */
  against?: string;
  seed: string;
  json?: string;
  charts?: string;
  page?: string;
  /** Files that an earlier run wrote, instead of measuring. */
  from?: readonly string[];
}

const names = (text: string): string[] => text.split(',').map((name) => name.trim());

function count(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('must be a whole number above 0.');
  return Number(text);
}

const counts = (text: string): number[] => names(text).map(count);
const limits = (text: string): number[] => names(text).map((name) => (name === 'none' ? 0 : count(name)));

const EXAMPLES = `
Examples:
  npm run bench -- --only orders,batches --rounds 1
  npm run bench -- --only orders --contenders "floor by callback,ours by callback" --orders 300 --rounds 7
  npm run bench -- --only batches --limits 40 --rows 300 --against ../before    a checkout in which npm run build was run
  npm run bench -- --full --json figures.json                                   45 minutes
  npm run bench -- --from figures.json --charts docs/performance --page docs/performance.md`;

/** Reads the command line. `parts`: their names, with what they measure. */
export function readOptions(argv: readonly string[], parts: readonly { name: string; about: string }[]): Options {
  const program = new Command('npm run bench --')
    .description('What orders, batches and processes cost. Compare within one run; never quote a figure by itself.')
    .option('--only <parts>', `of ${parts.map(({ name }) => name).join(', ')}; all by default`, names)
    .option('--full', 'the sizes that docs/performance.md tells, about 45 minutes; else about 12')
    .option('--rounds <n>', 'rounds of what takes turns', count)
    .option('--orders <n>', 'orders: in a round', count)
    .option('--open <n>', 'orders: open at a time', count)
    .option('--contenders <names>', 'orders: only these', names)
    .option('--limits <n,…>', 'batches: requests a second of the account, none for no limit', limits)
    .option('--rows <n>', 'batches: rows; by default what the limit lets pass in 12 s', count)
    .option('--waiting <n,…>', 'waiting: numbers of orders that wait, growing', counts)
    .option('--poll-every <seconds>', 'waiting: a round of the polling', count)
    .option('--growth <n,…>', 'growth: after so many orders', counts)
    .option('--cached <n,…>', 'memory: with so many orders', counts)
    .option('--requests <n>', 'doors: callbacks, and requests, a round', count)
    .option('--against <folder>', 'another checkout, built, which is measured in the same rounds')
    .option('--seed <text>', 'seed of the service', '1')
    .option('--json <file>', 'writes every round of every figure')
    .option('--charts <folder>', 'writes a chart of each part')
    .option('--page <file>', 'writes tables and charts between the markers of a page')
    .option('--from <files>', 'measures nothing: takes what --json wrote', names)
    .addHelpText(
      'after',
      `\nParts:\n${parts.map(({ name, about }) => `  ${name.padEnd(9)} ${about}`).join('\n')}\n${EXAMPLES}`,
    );
  const { full = false, ...given } = program.parse([...argv], { from: 'user' }).opts<Partial<Options>>();
  const unknown = given.only?.find((name) => !parts.some((part) => part.name === name));
  if (unknown !== undefined) program.error(`--only: no part ${unknown}`);
  return { ...(full ? FULL : USUAL), full, seed: '1', ...given };
}
