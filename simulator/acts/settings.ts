import { ORDER_TYPES } from '../../src/contract/order/types.js';
import type { World } from '../world.js';
import { type Act, FIRE_MS, later, MINUTE_MS } from './act.js';

/** An order that nobody pays goes first while something is in doubt; only some workers have the setting. */
const canary: Act = {
  share: 0.3,
  begin({ world, random }) {
    const canary = { currency: 'usdt', network: 'tron', amount: '50', countsFor: [...ORDER_TYPES] };
    const share = random.next();
    world.changeAccount((account) => (random.chance(share) ? { ...account, canary } : account));
    return undefined;
  },
};

/** The clocks of workers are not the server's. */
const clocks: Act = {
  share: 0.4,
  begin({ world, random }) {
    const mostMs = random.between(1, 30_000);
    world.say(`clocks of workers are up to ${mostMs} ms fast or slow`);
    world.clockOffMs = () => random.between(-mostMs, mostMs);
    return undefined;
  },
};

const HOUR_MS = 60 * MINUTE_MS;

/** From now on workers start with the orders' own key, or with that of another merchant. */
function startWith(world: World, whose: 'own' | "another merchant's"): void {
  world.say(`workers that start have the ${whose} key`);
  world.isElsewhere = whose !== 'own';
}

/** Acts after which Temporal lacks orders that it had. */
const FORGETFUL: readonly string[] = ['restore', 'failover', 'retention'];

/** For a while, workers that start have the key of another merchant at the same service. */
const elsewhere: Act = {
  share: 0.2,
  begin({ world, random }) {
    // Nothing knows of an order that Temporal forgot, but its own account: docs/plan.md.
    if (FORGETFUL.some((name) => world.acts.includes(name))) return undefined;
    for (let left = random.between(1, 3); left > 0; left -= 1) {
      later(random.between(0, FIRE_MS), () => {
        startWith(world, "another merchant's");
        later(random.between(MINUTE_MS, 10 * MINUTE_MS), () => startWith(world, 'own'));
      });
    }
    const all = (whose: 'own' | "another merchant's"): void => {
      startWith(world, whose);
      world.restartWorkers();
    };
    return async () => {
      all('own');
      // What went there says so, and ends once its key is back, by turns.
      for (const turn of [1, 3]) {
        later(turn * HOUR_MS, () => all("another merchant's"));
        later((turn + 1) * HOUR_MS, () => all('own'));
      }
    };
  },
};

export const ofSettings = { canary, clocks, elsewhere };
