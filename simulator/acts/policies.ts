import { DEFAULT_ACCOUNT, policyWorkflowId } from '../../src/contract/names.js';
import type { PolicyRule } from '../../src/contract/policy/rules.js';
import { type Act, FIRE_MS, later } from './act.js';

/** Sums of a day by currency, which some of the orders exceed. The workflow that keeps them is ended now and then. */
const policy: Act = {
  share: 0.3,
  begin({ world, random, planned }) {
    const highest = (most: number) => String(random.between(0, most * planned.length));
    const sum = { rule: 'sum', per: 'day', breach: 'park' } as const;
    const rules = [
      { ...sum, currency: 'usd', max: highest(100) },
      { ...sum, currency: 'usdt', max: highest(50) },
      { ...sum, currency: 'btc', max: (random.next() * 0.005 * planned.length).toFixed(8) },
    ] satisfies PolicyRule[];
    for (const { currency, max } of rules) world.limits.set(currency, max);
    world.say(`sums of a day: ${[...world.limits].map(([currency, max]) => `${max} ${currency}`).join(', ')}`);
    world.changes.push((config) => ({ ...config, policies: new Map([[DEFAULT_ACCOUNT, { rules }]]) }));
    for (let left = random.between(0, 4); left > 0; left -= 1) {
      later(random.between(0, FIRE_MS), () => {
        const run = world.engine.newest(policyWorkflowId(DEFAULT_ACCOUNT));
        if (!run?.isOpen) return;
        world.say('the sums are terminated');
        world.engine.terminate(run, 'sums are wrong');
      });
    }
    return undefined;
  },
};

/** Clients pay in less or more than asked, and rates move before an exchange. */
const amounts: Act = {
  share: 0.3,
  begin({ random, planned }) {
    for (const one of planned) {
      const order = one.input.order as { description?: string };
      if (order.description?.includes('[sandbox') || random.chance(0.5)) continue;
      const paid = one.type.startsWith('deposit') ? `paid=${random.one(['0.5', '0.9', '1.2', '3'])} ` : '';
      order.description = `[sandbox ${paid}rate=${random.one(['0.8', '0.98', '1.02', '1.3'])}]`;
    }
    return undefined;
  },
};

export const ofPolicies = { policy, amounts };
