import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_ACCOUNT, receivedWorkflowId } from '../../src/contract/names.js';
import { type Act, attempt, FIRE_MS, later, MINUTE_MS } from './act.js';

/** Money arrives at permanent addresses. The service calls back until each receipt is followed. */
const receipts: Act = {
  share: 0.3,
  begin({ world, random }) {
    // With another merchant's key, a receipt ends as absent until a reconciliation finds it: docs/plan.md.
    if (world.acts.includes('elsewhere')) return undefined;
    const { admin } = world.service.double;
    const arrived: string[] = [];
    const arrives = (addressUuid: string) => {
      const { order } = admin.receive({ addressUuid, amount: String(random.between(20, 500)) });
      world.say(`${order.order_uuid} arrives`);
      arrived.push(order.order_uuid);
    };
    for (let n = random.between(1, 4); n > 0; n -= 1) {
      const currencyTo = random.one([undefined, 'btc', 'usd'] as const);
      const address = { currency: 'usdt', network: 'tron', ...(currencyTo && { currency_to: currencyTo }) };
      later(random.between(0, FIRE_MS / 4), async () => {
        const request = { ref: `address-${world.seed}-${n}`, address };
        while (!(await attempt(() => world.orders.createAddress(request))) && world.clock.elapsedMs() < FIRE_MS);
        if (world.clock.elapsedMs() > FIRE_MS) return;
        const { uuid } = (await world.orders.createAddress(request)).address;
        for (let left = random.between(0, 5); left > 0; left -= 1)
          later(random.between(0, FIRE_MS / 2), () => arrives(uuid));
      });
    }
    return async () => {
      const unknown = () => arrived.filter((uuid) => !world.engine.newest(receivedWorkflowId(DEFAULT_ACCOUNT, uuid)));
      while (unknown().length > 0) {
        await Promise.all(unknown().map((uuid) => admin.sendCallback(uuid)));
        await sleep(MINUTE_MS);
      }
    };
  },
};

export const ofReceipts = { receipts };
