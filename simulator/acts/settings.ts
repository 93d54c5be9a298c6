import { ORDER_TYPES } from '../../src/contract/order/types.js';
import type { Act } from './act.js';

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

export const ofSettings = { canary, clocks };
