import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { factsOf } from './facts.js';
import type { Options } from './options.js';
import type { Bench, Part } from './part.js';
import { PARTS } from './parts.js';
import { otherProduct } from './product.js';
import type { Report } from './report.js';
import { Stand } from './stand.js';
import type { Table } from './table.js';

/** A part that takes longer hangs: in the usual sizes none takes as long. */
const LONGEST_MINUTES = { usual: 6, full: 30 };

/** Measures the parts that are wanted and stops all that it started, also on Ctrl-C. `complete`: none failed. */
export async function runParts(options: Options, say: Bench['say']): Promise<{ report: Report; complete: boolean }> {
  const other = options.against === undefined ? undefined : await otherProduct(resolve(options.against));
  const stand = await Stand.open(say, options.seed);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void giveUp(stand, say));
  // What a part left behind when its time was over still fails in the background.
  process.on('unhandledRejection', (error: Error) => say(`left behind: ${error.message?.split('\n', 1)[0]}`));
  const [tables, failed]: [Table[], string[]] = [[], []];
  try {
    const facts = await factsOf(`server ${await stand.serverVersion()}, SQLite in a file`, options.seed);
    for (const part of PARTS.filter(({ name }) => options.only?.includes(name) ?? true)) {
      say(`part ${part.name}: ${part.about}`);
      try {
        tables.push(...(await withinTime(part, { stand, options, say, ...(other && { other }) })));
      } catch (error) {
        failed.push(part.name);
        say(`part ${part.name} failed: ${error instanceof Error ? error.message : error}`);
      }
      await stand.clear();
    }
    return { report: { runs: [{ facts, tables }] }, complete: failed.length === 0 };
  } finally {
    await stand.close();
  }
}

async function giveUp(stand: Stand, say: Bench['say']): Promise<never> {
  say('stopping');
  await stand.close().catch(() => undefined);
  process.exit(130);
}

async function withinTime(part: Part, bench: Bench): Promise<Table[]> {
  const builds = bench.other ? 2 : 1;
  const minutes = builds * (bench.options.full ? LONGEST_MINUTES.full : LONGEST_MINUTES.usual);
  const over = new AbortController();
  const tooLate = sleep(minutes * 60_000, undefined, { signal: over.signal }).then(() => {
    throw new Error(`it is not over after ${minutes} min`);
  });
  try {
    return await Promise.race([part.measure(bench), tooLate]);
  } finally {
    over.abort();
  }
}
