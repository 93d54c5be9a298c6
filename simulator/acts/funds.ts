import { validateOrderInput } from '../../src/validation/order-input.js';
import { type Act, FIRE_MS, later } from './act.js';

/** Balances that orders wait for, each in one of the ways, and that somebody pays into. */
const funds: Act = {
  share: 0.3,
  begin({ world, random, planned }) {
    const units = { usd: 100, eur: 100, usdt: 50, btc: 0.01, uah: 5_000 };
    for (const one of planned) {
      const whenShort = random.one(['wait', 'wait', 'overtake', 'ask', 'refuse', undefined] as const);
      const input = { ...one.input, whenShort };
      if (whenShort && 'input' in validateOrderInput(one.type, input)) Object.assign(one.input, { whenShort });
    }
    for (const [currency, unit] of Object.entries(units)) {
      world.payIn(currency, String(random.between(0, 5) * unit), true);
      for (let left = random.between(0, 5); left > 0; left -= 1)
        later(random.between(0, FIRE_MS), () => world.payIn(currency, String(random.between(1, 10) * unit)));
    }
    return async () => {
      for (const currency of Object.keys(units)) world.payIn(currency, '1000000');
    };
  },
};

export const ofFunds = { funds };
