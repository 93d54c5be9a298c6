/**
 * `npm run simulate -- [--seeds N] [--seed K] [--orders N] [--without ACT] [--story]`: the program on virtual time, with every fault drawn from
 * a seed. Exit codes: 0 clean, 1 a rule is broken, 2 bad options.
 */
import { parseArgs } from 'node:util';
import { buildWorkflowBundle } from '../scripts/workflow-bundle.js';
import { createActivities } from '../src/activities/index.js';
import { live } from './acts/index.js';
import { installClock } from './clock.js';
import { openSandbox } from './engine/sandbox.js';
import { judge } from './evidence.js';
import { World } from './world.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '20' },
    orders: { type: 'string', default: '30' },
    story: { type: 'boolean', default: false },
    without: { type: 'string', multiple: true, default: [] },
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

const count = numberOf('orders');
const seeds =
  values.seed === undefined ? Array.from({ length: numberOf('seeds') }, (_, n) => n + 1) : [numberOf('seed')];
const { code } = await buildWorkflowBundle();
const sandbox = await openSandbox(code, Object.keys(createActivities({ accounts: new Map() } as never)));
const clock = installClock(Date.UTC(2026, 10, 28));
const print = (line: string): void => void process.stdout.write(`${line}\n`);
let broken = 0;
for (const seed of seeds) {
  clock.reset(seed);
  const beganAt = clock.cpuSeconds();
  const world = new World(seed, clock, sandbox, values.plant);
  const start = world.service.double.admin.ledger();
  const report = await live(world, count, values.without);
  const hours = clock.elapsedMs() / 3.6e6;
  const findings = await judge(world, report, start);
  const asked = [...report.parks.values()].reduce((sum, one) => sum + one, 0);
  const seconds = clock.cpuSeconds() - beganAt;
  if (values.story) print(world.story.join('\n'));
  const done = `${count} orders, ${hours.toFixed(1)} virtual hours, ${asked} asked`;
  print(`seed ${seed}: ${findings.length === 0 ? 'clean' : `${findings.length} findings`}: ${done}`);
  // Not to the output, which is the same for the same seed.
  process.stderr.write(`seed ${seed}: ${(count / seconds).toFixed(1)} orders a CPU second\n`);
  for (const { text } of findings) print(`  ✘ ${text}`);
  if (findings.length > 0) broken += 1;
}
print(broken === 0 ? `clean: ${seeds.length} seeds` : `${broken} of ${seeds.length} seeds broke a rule`);
process.exit(broken === 0 ? 0 : 1);
