import { setTimeout as sleep } from 'node:timers/promises';
import { afterEndWorkflowId, DEFAULT_ACCOUNT, orderWorkflowId } from '../../src/contract/names.js';
import type { ReconcileClass, ReconcileResult } from '../../src/contract/reconcile/reconcile.js';
import type { World } from '../world.js';
import { type Act, attempt, FIRE_MS, later, MINUTE_MS } from './act.js';

/** Classes of the last reconciliation, when all is well, that say that money moved otherwise than we know. */
const WRONG: readonly ReconcileClass[] = ['duplicate', 'verdictDiffers', 'amountDiffers', 'missingAtService'];

/** What other acts bring about: money in another account's lists, and exchanges at moved rates. */
const EXPECTED: Record<string, ReconcileClass> = { elsewhere: 'missingAtService', amounts: 'amountDiffers' };

async function reconcile(world: World, recover: boolean): Promise<ReconcileResult | undefined> {
  let result: ReconcileResult | undefined;
  await attempt(async () => {
    result = await world.orders.reconcile({ recover }, { timeoutMs: 120 * MINUTE_MS });
  });
  const counts = Object.entries(result?.classes ?? {}).flatMap(([name, count]) =>
    count > 0 ? `${name} ${count}` : [],
  );
  world.say(`${recover ? 'reconciled, to recover' : 'reconciled'}: ${counts.join(', ') || 'without a result'}`);
  return result;
}

/** Reconciliations while things go wrong, and one when all is well, which has to agree. */
const reconciles: Act = {
  share: 0.3,
  begin({ world, random }) {
    for (let left = random.between(1, 4); left > 0; left -= 1) {
      const recover = random.chance(0.5);
      later(random.between(0, FIRE_MS), async () => void (await reconcile(world, recover)));
    }
    world.lastLooks.push(async () => {
      await sleep(MINUTE_MS);
      const result = await reconcile(world, false);
      if (!result) return [{ text: 'reconcile: it came to no end when all was well' }];
      const expected = world.acts.map((name) => EXPECTED[name]);
      // What changed after an end is told to a person already.
      const isAsked = (orderId: string) =>
        world.engine.newest(afterEndWorkflowId(orderWorkflowId(DEFAULT_ACCOUNT, orderId)))?.isOpen === true;
      const wrong = result.disagreements.filter(
        (one) => WRONG.includes(one.class) && !expected.includes(one.class) && !isAsked(one.order_id),
      );
      return wrong.map((one) => ({ text: `reconcile: ${JSON.stringify(one)}` }));
    });
    return undefined;
  },
};

export const ofReconciles = { reconciles };
