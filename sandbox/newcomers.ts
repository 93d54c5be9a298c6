import { randomUUID } from 'node:crypto';
import type { Life } from './life.js';
import { newOrder } from './new-order.js';
import type { World } from './world.js';

/** Lets orders of another program appear while somebody pages: they come first in the list and shift what follows. */
export function addNewcomers(world: World, life: Life): void {
  for (let n = 0; n < world.settings.newOrdersWhilePaging; n += 1) {
    const body = {
      order_id: `elsewhere-${world.store.orders.size + 1}`,
      currency: 'usd',
      network: 'card',
      amount: '10',
    };
    life.begin({ ...newOrder(world, 'deposit', body, {}), orderUuid: `00000000${randomUUID().slice(8)}` });
  }
}
