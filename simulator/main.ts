/**
 * `npm run simulate -- [--seeds N] [--seed K] [--orders N] [--acts NAME,…] [--shrink] [--story]`: the program on virtual time, with
 * every fault drawn from a seed. Exit codes: 0 clean, 1 a rule is broken, 2 bad options.
 */
import { parseArgs } from 'node:util';
import { buildWorkflowBundle } from '../scripts/workflow-bundle.js';
import { createActivities } from '../src/activities/index.js';
import { ACT_NAMES, live } from './acts/index.js';
import { installClock } from './clock.js';
import { openSandbox } from './engine/sandbox.js';
import { judge } from './evidence.js';
import { FOUND, type Story } from './found.js';
import { World } from './world.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '20' },
    orders: { type: 'string', default: '30' },
    story: { type: 'boolean', default: false },
    // Names of acts that happen, whatever the seed draws.
    acts: { type: 'string' },
    // Tries a broken story with fewer acts and orders.
    shrink: { type: 'boolean', default: false },
    // The service executes the first create twice: a run that does not say so could not fail.
    plant: { type: 'boolean', default: false },
  },
});

/** A whole number of an option, from 1. Ends the process for anything else. */
function numberOf(option: 'seed' | 'seeds' | 'orders'): number {
  const text = values[option] ?? '';
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  process.stderr.write(`--${option}: must be a whole number from 1, not ${text || 'empty'}\n`);
  process.exit(2);
}

const only = values.acts?.split(',').filter((name) => name !== '');
const unknown = only?.filter((name) => !ACT_NAMES.includes(name)) ?? [];
if (unknown.length > 0) {
  process.stderr.write(`--acts: must be of ${ACT_NAMES.join(', ')}, not ${unknown.join(', ')}\n`);
  process.exit(2);
}
const orders = numberOf('orders');
const given: Story[] =
  values.seed === undefined
    ? [
        ...(only ? [] : FOUND),
        ...Array.from({ length: numberOf('seeds') }, (_, n) => ({ seed: n + 1, orders, acts: only })),
      ]
    : [{ seed: numberOf('seed'), orders, acts: only }];
const { code } = await buildWorkflowBundle();
const sandbox = await openSandbox(code, Object.keys(createActivities({ accounts: new Map() } as never)));
const clock = installClock(Date.UTC(2026, 10, 28));
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Lives a story; returns what it broke, and the acts that it had. */
async function tell(story: Story): Promise<{ broken: string[]; acts: string[]; world: World; about: string }> {
  const { seed, orders, acts } = story;
  clock.reset(seed);
  const beganAt = clock.cpuSeconds();
  const world = new World(seed, clock, sandbox, values.plant);
  const start = world.service.double.admin.ledger();
  const report = await live(world, orders, acts);
  const hours = clock.elapsedMs() / 3.6e6;
  const broken = (await judge(world, report, start)).map(({ text }) => text);
  const asked = [...report.parks.values()].reduce((sum, one) => sum + one, 0);
  // Not to the output, which is the same for the same seed.
  const speed = orders / (clock.cpuSeconds() - beganAt);
  process.stderr.write(`seed ${seed}: ${speed.toFixed(1)} orders a CPU second\n`);
  return {
    broken,
    acts: world.acts,
    world,
    about: `${orders} orders, ${hours.toFixed(1)} virtual hours, ${asked} asked`,
  };
}

const ruleOf = (text: string): string => text.split(':')[0] ?? '';

/** Leaves out acts and orders while the same rule breaks. */
async function shrink(story: Story, acts: readonly string[], rule: string): Promise<Story> {
  let least: Story = { ...story, acts };
  const breaks = async (one: Story) => (await tell(one)).broken.some((text) => ruleOf(text) === rule);
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

let count = 0;
for (const story of given) {
  const { broken, acts, world, about } = await tell(story);
  if (values.story) print(world.story.join('\n'));
  const found = 'name' in story ? ` (${story.name})` : '';
  print(`seed ${story.seed}${found}: ${broken.length === 0 ? 'clean' : `${broken.length} findings`}: ${about}`);
  for (const text of broken) print(`  ✘ ${text}`);
  if (!broken[0]) continue;
  count += 1;
  const { seed, ...least } = values.shrink ? await shrink(story, acts, ruleOf(broken[0])) : story;
  print(`  again: npm run simulate -- --seed ${seed} --orders ${least.orders} --acts ${least.acts ?? acts} --story`);
}
print(count === 0 ? `clean: ${given.length} stories` : `${count} of ${given.length} stories broke a rule`);
process.exit(count === 0 ? 0 : 1);
