import { Secret } from '../../src/config.js';
import { DEFAULT_ACCOUNT } from '../../src/contract/names.js';
import { EVENT_SECRET } from '../receivers.js';
import { type Act, FIRE_MS, later } from './act.js';

/** Receivers of events that fail, or are down for a while. */
const events: Act = {
  share: 0.3,
  begin({ world, random }) {
    const { receivers } = world;
    receivers.failing = random.next() / 2;
    const hosts = ['shop.example', 'books.example'];
    const configs = hosts.map((host) => ({
      ...{ name: host.replace('.example', ''), url: new Secret(`https://${host}/events`) },
      ...{ secrets: [new Secret(EVENT_SECRET)], accounts: [DEFAULT_ACCOUNT] },
    }));
    world.changes.push((config) => ({ ...config, receivers: new Map(configs.map((one) => [one.name, one])) }));
    for (const host of hosts) {
      receivers.got.set(host, []);
      if (random.chance(0.5)) continue;
      const fromMs = random.between(0, FIRE_MS);
      later(fromMs, () => {
        world.say(`${host} is down`);
        receivers.down.add(host);
      });
      later(fromMs + random.between(0, FIRE_MS), () => {
        world.say(`${host} is back`);
        receivers.down.delete(host);
      });
    }
    return async () => {
      receivers.failing = 0;
    };
  },
};

export const ofEvents = { events };
