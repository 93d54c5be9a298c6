import { outside, SPELLS } from '../../chaos/faults.js';
import { setAll } from '../service.js';
import { type Act, FIRE_MS, later, MINUTE_MS } from './act.js';

/** For a while look-ups show nothing, or no create is accepted, as in chaos. */
const spells: Act = {
  share: 0.7,
  begin({ world, random }) {
    for (const { name, during } of SPELLS) {
      const fromMs = random.between(0, FIRE_MS / 2);
      later(fromMs, () => {
        world.say(name);
        setAll(world.service, during);
      });
      later(fromMs + random.between(MINUTE_MS, 5 * MINUTE_MS), () => {
        world.say(`no longer: ${name}`);
        setAll(world.service, outside({ name, during, fromMs: 0, toMs: 0 }, String(world.seed)));
      });
    }
    return undefined;
  },
};

/** More requests than so many a second are refused. Not all workers know it, and each takes a half. */
const limit: Act = {
  share: 0.3,
  begin({ world, random }) {
    const requestsPerSecond = random.between(2, 10);
    world.say(`the service takes ${requestsPerSecond} requests a second`);
    setAll(world.service, { requestsPerSecond });
    world.changeAccount((account) =>
      random.chance(0.9) ? { ...account, requestsPerSecond: requestsPerSecond / 2 } : account,
    );
    return async () => void setAll(world.service, { requestsPerSecond: null });
  },
};

/** What the interface does not say: how lists are sorted, cut and dated, and what becomes of a used id. */
const shapes: Act = {
  share: 0.5,
  begin({ world, random }) {
    const change = {
      duplicateMode: random.one(['a', 'b', 'c', 'c', 'c', 'd', 'e'] as const),
      listOrder: random.one(['fixed', 'random', 'newest', 'oldest'] as const),
      listAtMost: random.one([null, null, 5, 50]),
      orderIdsRead: random.one([null, null, [0, 2], [-1]]),
      dateFilterShiftHours: random.one([0, 0, 2, -3]),
      sharedAddresses: random.chance(0.5),
    };
    world.say(`shapes: ${JSON.stringify(change)}`);
    setAll(world.service, change);
    // Whoever is not shown what he asks for waits for a person, who cannot tell either.
    return async () => void setAll(world.service, { orderIdsRead: null });
  },
};

export const ofService = { spells, limit, shapes };
