/** `npm run simulate`: the program on virtual time, with every fault drawn from a seed. */
import { parseArgs } from 'node:util';
import { buildWorkflowBundle } from '../scripts/workflow-bundle.js';
import { createActivities } from '../src/activities/index.js';
import { live } from './acts.js';
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
  },
});
const count = Number(values.orders);
const seeds = values.seed ? [Number(values.seed)] : Array.from({ length: Number(values.seeds) }, (_, n) => n + 1);
const { code } = await buildWorkflowBundle();
const sandbox = await openSandbox(code, Object.keys(createActivities({ accounts: new Map() } as never)));
const clock = installClock(Date.UTC(2026, 10, 28));
const print = (line: string): void => void process.stdout.write(`${line}\n`);
let broken = 0;
for (const seed of seeds) {
  clock.reset(seed);
  const beganAt = clock.cpuSeconds();
  const world = new World(seed, clock, sandbox);
  const start = world.service.double.admin.ledger();
  const report = await live(world, count);
  const hours = clock.elapsedMs() / 3.6e6;
  const findings = await judge(world, report, start);
  const asked = [...report.parks.values()].reduce((sum, one) => sum + one, 0);
  const seconds = clock.cpuSeconds() - beganAt;
  if (values.story) print(world.story.join('\n'));
  const done = `${count} orders, ${hours.toFixed(1)} virtual hours, ${asked} asked, ${(count / seconds).toFixed(0)} orders a CPU second`;
  print(`seed ${seed}: ${findings.length === 0 ? 'clean' : `${findings.length} findings`}: ${done}`);
  for (const { text } of findings) print(`  ✘ ${text}`);
  if (findings.length > 0) broken += 1;
}
print(broken === 0 ? `clean: ${seeds.length} seeds` : `${broken} of ${seeds.length} seeds broke a rule`);
process.exit(broken === 0 ? 0 : 1);
