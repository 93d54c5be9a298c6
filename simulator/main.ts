/**
 * `npm run simulate -- [--seeds N] [--seed K] [--orders N] [--minutes M] [--acts NAME,…] [--without FIX] [--first] [--shrink] [--story]
 * [--about ID]`: the program on virtual time, with every fault drawn from a seed. Exit codes: 0 clean, 1 a rule is broken, 2 bad options.
 */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { inCopy } from '../scripts/mutants/in-copy.js';
import { MUTANTS } from '../scripts/mutants/table.js';
import { buildWorkflowBundle } from '../scripts/workflow-bundle.js';
import { ACT_NAMES } from './acts/index.js';
import { FOUND, type Story } from './found.js';
import { Pool } from './pool.js';
import type { Told } from './tell.js';

const { values } = parseArgs({
  options: {
    // The first one. Without it, the found ones and then those from 1.
    seed: { type: 'string' },
    // How many; 20, or 1 from a given one.
    seeds: { type: 'string' },
    orders: { type: 'string', default: '30' },
    // After this time, no more stories begin.
    minutes: { type: 'string' },
    story: { type: 'boolean', default: false },
    // Part of ids of orders or workflows: the story has their events, too.
    about: { type: 'string' },
    // Names of acts that happen, whatever the seed draws.
    acts: { type: 'string' },
    // Tries a broken story with fewer acts and orders.
    shrink: { type: 'boolean', default: false },
    // Ends with the first story that breaks a rule.
    first: { type: 'boolean', default: false },
    // The service executes the first create twice: a run that does not say so could not fail.
    plant: { type: 'boolean', default: false },
    // Words of the name of a mutant: its fix is taken out first.
    without: { type: 'string' },
  },
});

/** A whole number of an option, from 1. Ends the process for anything else. */
function numberOf(option: 'seed' | 'seeds' | 'orders' | 'minutes', inPlace = ''): number {
  const text = values[option] ?? inPlace;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  process.stderr.write(`--${option}: must be a whole number from 1, not ${text || 'empty'}\n`);
  process.exit(2);
}

/** Lives the same stories in a copy of the tree that lacks a fix. Returns the exit code. */
async function liveWithout(name: string): Promise<number> {
  const [mutant, other] = MUTANTS.filter((one) => one.name.includes(name));
  if (!mutant || other) {
    process.stderr.write(`--without: ${other ? 'more than one' : 'no'} mutant has it in its name: ${name}\n`);
    return 2;
  }
  const args = process.argv.slice(2).filter((arg, n, all) => !/^--without/.test(arg) && all[n - 1] !== '--without');
  const main = ['simulator/main.ts', ...args];
  const root = fileURLToPath(new URL('..', import.meta.url));
  const { exitCode = 1 } = await inCopy(root, mutant, (cwd) =>
    execa('node', [...process.execArgv, ...main], { cwd, reject: false, stdio: 'inherit' }),
  );
  return exitCode;
}

const only = values.acts?.split(',').filter((name) => name !== '');
const unknown = only?.filter((name) => !ACT_NAMES.includes(name)) ?? [];
if (unknown.length > 0) {
  process.stderr.write(`--acts: must be of ${ACT_NAMES.join(', ')}, not ${unknown.join(', ')}\n`);
  process.exit(2);
}
const orders = numberOf('orders');
if (values.without !== undefined) process.exit(await liveWithout(values.without));
const { about } = values;
const isGiven = values.seed !== undefined;
const first = numberOf('seed', '1');
const given: Story[] = [
  ...(only || isGiven ? [] : FOUND),
  ...Array.from({ length: numberOf('seeds', isGiven ? '1' : '20') }, (_, n) => ({
    ...{ seed: first + n, orders, acts: only, about },
  })),
];
const endMs =
  values.minutes === undefined ? Number.POSITIVE_INFINITY : performance.now() + numberOf('minutes') * 60_000;
const { code } = await buildWorkflowBundle();
const size = values.shrink ? availableParallelism() : Math.min(availableParallelism(), given.length);
const pool = new Pool(size, { code, isPlanted: values.plant });
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Stories that may wait for the one that is printed next. */
const MOST_AHEAD = 16;

const ruleOf = (text: string): string => text.split(':')[0] ?? '';

/** Leaves out acts and orders while the same rule breaks. */
async function shrink(story: Story, acts: readonly string[], rule: string): Promise<Story> {
  let least: Story = { ...story, acts };
  const breaks = async (one: Story) => (await pool.tell(one)).broken.some((text) => ruleOf(text) === rule);
  for (const name of acts) {
    const without = { ...least, acts: least.acts?.filter((one) => one !== name) };
    if (await breaks(without)) least = without;
  }
  for (;;) {
    const fewer = { ...least, orders: Math.floor(least.orders / 2) };
    if (fewer.orders === 0 || !(await breaks(fewer))) return least;
    least = fewer;
  }
}

/** Lives a story. Only what is shown of it is kept. */
async function lived(story: Story): Promise<Told> {
  const told = await pool.tell(story);
  return values.story || about ? told : { ...told, lines: [] };
}

const waiting = given.values();
const living: { story: Story; told: Promise<Told> }[] = [];

/** Begins stories while there is time. The next one is printed in its turn, whichever ends first. */
function nextLiving(): (typeof living)[number] | undefined {
  while (living.length < MOST_AHEAD && performance.now() < endMs) {
    const { value: story } = waiting.next();
    if (!story) break;
    living.push({ story, told: lived(story) });
  }
  return living.shift();
}

let count = 0;
let begun = 0;
for (let next = nextLiving(); next; next = nextLiving()) {
  const { story } = next;
  const { broken, acts, lines, sum, ordersPerCpuSecond } = await next.told;
  begun += 1;
  // Not to the output, which is the same for the same seed.
  process.stderr.write(`seed ${story.seed}: ${ordersPerCpuSecond.toFixed(1)} orders a CPU second\n`);
  if (lines.length > 0) print(lines.join('\n'));
  const found = 'name' in story ? ` (${story.name})` : '';
  print(`seed ${story.seed}${found}: ${broken.length === 0 ? 'clean' : `${broken.length} findings`}: ${sum}`);
  for (const text of broken) print(`  ✘ ${text}`);
  if (!broken[0]) continue;
  count += 1;
  const { seed, ...least } = values.shrink ? await shrink(story, acts, ruleOf(broken[0])) : story;
  print(`  again: npm run simulate -- --seed ${seed} --orders ${least.orders} --acts ${least.acts ?? acts} --story`);
  if (values.first) process.exit(1);
}
print(count === 0 ? `clean: ${begun} stories` : `${count} of ${begun} stories broke a rule`);
pool.close();
process.exitCode = count === 0 ? 0 : 1;
