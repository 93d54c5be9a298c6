import { parseOrderWorkflowId } from '../src/contract/names.js';
import { live } from './acts/index.js';
import { installClock } from './clock.js';
import { judge } from './evidence.js';
import type { Story } from './found.js';
import { timelineOf } from './timeline.js';
import { openWorkflows } from './worker.js';
import { World } from './world.js';

/** What came of a story. */
export interface Told {
  /** Rules that were broken, each with its words. */
  broken: string[];
  /** Acts that happened. */
  acts: string[];
  /** What happened, line by line. */
  lines: string[];
  /** In figures. */
  sum: string;
  ordersPerCpuSecond: number;
}

/**
 * Returns what lives stories in this process, whose clock is virtual from now on. `code`: the workflow bundle. `isPlanted`: the
 * service executes the first create twice.
 */
export async function storyTeller(code: string, isPlanted: boolean): Promise<(story: Story) => Promise<Told>> {
  const sandbox = await openWorkflows(code);
  const clock = await installClock(Date.UTC(2026, 10, 28));
  return async ({ seed, orders, acts, about }) => {
    clock.reset(seed);
    const beganAt = clock.cpuSeconds();
    const world = new World(seed, clock, sandbox, isPlanted);
    const report = await live(world, orders, acts);
    const hours = clock.elapsedMs() / 3.6e6;
    const broken = (await judge(world, report)).map(({ text }) => text);
    for (const act of world.atEnd) act();
    // What is still open would stay in memory.
    for (const { workflow } of [...world.engine.runs.values()].flat()) await workflow?.dispose();
    const lives = [...world.engine.allRuns().keys()].filter((id) => parseOrderWorkflowId(id)).length;
    const asked = [...report.parks.values()].reduce((sum, one) => sum + one, 0);
    return {
      ...{ broken, acts: world.acts },
      lines: about === undefined ? world.story.map(({ text }) => text) : timelineOf(world, about),
      sum: `${lives} orders, ${hours.toFixed(1)} virtual hours, ${asked} asked`,
      ordersPerCpuSecond: lives / (clock.cpuSeconds() - beganAt),
    };
  };
}
