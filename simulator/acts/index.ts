import { planOrders } from '../../chaos/inputs.js';
import { decideParked, type OperatorReport } from '../../chaos/operator.js';
import { chance } from '../../sandbox/chance.js';
import { Random } from '../random.js';
import type { World } from '../world.js';
import { type Act, FIRE_MS, later, MINUTE_MS } from './act.js';
import { ofBatches } from './batches.js';
import { ofBooks } from './books.js';
import { ofEvents } from './events.js';
import { ofFunds } from './funds.js';
import { ofMoments } from './moments.js';
import { ofPeople } from './people.js';
import { ofPolicies } from './policies.js';
import { ofReceipts } from './receipts.js';
import { ofReconciles } from './reconciles.js';
import { ofService } from './service.js';
import { ofSettings } from './settings.js';
import { ofTemporal } from './temporal.js';

/** An operator looks this often, once all is well. */
const ROUND_MS = 5 * MINUTE_MS;
const LOOK_MS = 1_000;
/** Longest time that anything of a story may take. */
const END_MS = 12 * 60 * MINUTE_MS;

const actsOf = (report: OperatorReport): Record<string, Act> => ({
  ...ofTemporal,
  ...ofService,
  ...ofSettings,
  ...ofPolicies,
  ...ofBatches,
  ...ofEvents,
  ...ofFunds,
  ...ofMoments,
  ...ofReceipts,
  ...ofReconciles,
  ...ofBooks,
  ...ofPeople(report),
});

/** Names of all acts. */
export const ACT_NAMES: readonly string[] = Object.keys(
  actsOf({ parks: new Map(), decisions: new Map(), choices: [] }),
);

/**
 * Lives the story of a world's seed to its end. Each seed draws some of the acts, so that rare ones also meet alone. `only`: the
 * acts that happen, whatever the seed says.
 */
export async function live(world: World, count: number, only?: readonly string[]): Promise<OperatorReport> {
  const report: OperatorReport = { parks: new Map(), decisions: new Map(), choices: [] };
  const planned = planOrders(count, String(world.seed));
  const ends = Object.entries(actsOf(report)).flatMap(([name, { share, begin }]) => {
    const random = new Random(chance(String(world.seed), name) * 2 ** 32);
    const isDrawn = random.chance(share);
    if (only ? !only.includes(name) : !isDrawn) return [];
    world.acts.push(name);
    return begin({ world, random, planned }) ?? [];
  });
  world.say(`acts: ${world.acts.join(', ')}`);
  world.startWorkers();
  for (const one of planned) later(world.random.between(0, FIRE_MS), () => world.start(one));
  let isWell = false;
  let lookedMs = 0;
  const isOver = () => {
    // To look at all runs at each timer takes a tenth of a story.
    if (!isWell || Date.now() < lookedMs + LOOK_MS) return false;
    lookedMs = Date.now();
    return world.open().length === 0;
  };
  later(FIRE_MS, async () => {
    world.heal();
    // A batch may wait for decisions about its rows.
    later(0, async () => {
      await Promise.all(ends.map((end) => end()));
      later(FIRE_MS / 2, () => {
        isWell = true;
      });
    });
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
      await decideParked(world.orders, report, world.looked());
    }
  });
  await world.clock.run(Date.now() + END_MS, isOver);
  for (const look of world.lastLooks) {
    let isSeen = false;
    look().then((findings) => {
      world.seenLast.push(...findings);
      isSeen = true;
    });
    await world.clock.run(Date.now() + END_MS, () => isSeen);
  }
  // What was looked at may have told somebody.
  if (world.lastLooks.length > 0) await world.clock.run(Date.now() + END_MS, isOver);
  return report;
}
