import { setTimeout as sleep } from 'node:timers/promises';
import { Interference } from '../../chaos/interference.js';
import { decideParked, type OperatorReport } from '../../chaos/operator.js';
import { accountStopWorkflowId, DEFAULT_ACCOUNT } from '../../src/contract/names.js';
import { type Act, attempt, FIRE_MS, later, MINUTE_MS } from './act.js';

/** How often an operator resets, pauses, holds or cancels an order. */
const INTERFERES_EVERY_MS = 2 * MINUTE_MS;

/** An operator resets orders to any point, pauses their activities, holds and cancels. */
const interference: Act = {
  share: 0.7,
  begin({ world }) {
    const operator = new Interference(world.orders, String(world.seed), INTERFERES_EVERY_MS);
    const done = operator.run(AbortSignal.timeout(FIRE_MS));
    return async () => {
      await done;
      world.say(operator.text);
    };
  },
};

/** Callers start orders more than once, also those that ended. */
const repeats: Act = {
  share: 0.5,
  begin({ world, random, planned }) {
    for (const one of planned) {
      if (random.chance(0.5)) continue;
      const again = random.chance(0.3);
      later(random.between(0, FIRE_MS), async () => void (await attempt(() => world.start(one, { again }))));
    }
    return undefined;
  },
};

const SAID = { by: 'an operator', reason: 'a look at it' };

/** The account is stopped and resumed. */
const stops: Act = {
  share: 0.4,
  begin({ world, random }) {
    const { accounts } = world.orders;
    const resume = () => attempt(() => accounts.resume(DEFAULT_ACCOUNT, SAID));
    for (let left = random.between(1, 4); left > 0; left -= 1) {
      later(random.between(0, FIRE_MS), async () => {
        world.say('the account is stopped');
        if (await attempt(() => accounts.stop(DEFAULT_ACCOUNT, SAID))) world.stops.push({ fromMs: Date.now() });
        await sleep(random.between(0, 10 * MINUTE_MS));
        world.say('the account is resumed');
        for (const stop of world.stops) stop.toMs ??= Date.now();
        await resume();
        // What was said last is what a failover forgets.
        if (world.engine.failovers && random.chance(0.5))
          later(random.between(0, 5_000), () => world.failOver(random.between(0, 10_000)));
      });
    }
    return async () => {
      for (const stop of world.stops) stop.toMs ??= Date.now();
      while (world.engine.newest(accountStopWorkflowId(DEFAULT_ACCOUNT))?.isOpen) {
        await resume();
        await sleep(MINUTE_MS);
      }
    };
  },
};

/** Parked orders are decided while things still go wrong. */
const decisions =
  (report: OperatorReport): Act['begin'] =>
  ({ world, random }) => {
    const next = (): void =>
      later(random.between(MINUTE_MS, 5 * MINUTE_MS), async () => {
        if (world.clock.elapsedMs() > FIRE_MS) return;
        await decideParked(world.orders, report);
        next();
      });
    next();
    return undefined;
  };

export const ofPeople = (report: OperatorReport) => ({
  ...{ interference, repeats, stops },
  decisions: { share: 0.4, begin: decisions(report) },
});
