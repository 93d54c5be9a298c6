/** `on-engine.ts BUNDLE [PART OF A NAME…]`: runs programs on the engine, on virtual time, and prints what is compared as JSON. */
import { readFile } from 'node:fs/promises';
import { installClock } from '../../../simulator/clock.js';
import { Engine } from '../../../simulator/engine/engine.js';
import { openSandbox } from '../../../simulator/engine/sandbox.js';
import { Random } from '../../../simulator/random.js';
import { work } from './activities.js';
import { QUEUE, type Report, runOn, type Side } from './lab.js';
import { programs } from './programs.js';

const [bundle = '', ...names] = process.argv.slice(2);
const sandbox = await openSandbox(await readFile(bundle, 'utf8'), ['work']);
const clock = await installClock(Date.now());
clock.reset(1);
const engine = new Engine(sandbox, new Random(1), (line) => void process.stderr.write(`${line}\n`));
const serve = async (queue: string): Promise<void> =>
  void engine.hosts.push({ identity: queue, queues: new Set([queue]), activities: { work }, isAlive: true });
const side: Side = { client: engine.client, serve };
await serve(QUEUE);
const reports: Record<string, Report | string> = {};
let left = 0;
for (const program of programs) {
  if (names.length > 0 && !names.some((name) => program.name.includes(name))) continue;
  left += 1;
  setTimeout(async () => {
    reports[program.name] = await runOn(side, program).catch((error) => String(error.stack));
    left -= 1;
  }, 0);
}
await clock.run(Date.now() + 3.6e6, () => left === 0);
process.stdout.write(JSON.stringify(reports), () => process.exit(0));
