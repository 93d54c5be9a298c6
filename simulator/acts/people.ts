import { setTimeout as sleep } from 'node:timers/promises';
import { Interference } from '../../chaos/interference.js';
import { decideParked, handleOf, type OperatorReport } from '../../chaos/operator.js';
import { offeredWays, type Way } from '../../chaos/ways.js';
import { decimal, toAmount } from '../../src/contract/money.js';
import { accountStopWorkflowId, DEFAULT_ACCOUNT } from '../../src/contract/names.js';
import { type Act, attempt, FIRE_MS, later, MINUTE_MS, SAID, type Scene } from './act.js';

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

/** Another caller starts another order under a used id, sometimes first. */
const otherInputs: Act = {
  share: 0.2,
  begin({ world, random, planned }) {
    for (const one of planned) {
      if (random.chance(0.7)) continue;
      world.contested.add(one.orderId);
      const { order, resend } = one.input;
      const { amount } = order as { amount?: string };
      const input = random.one([
        { ...one.input, resend: resend === 'never' ? 'once' : 'never' },
        { ...one.input, order: { ...order, description: 'of somebody else' } },
        ...(amount ? [{ ...one.input, order: { ...order, amount: toAmount(decimal(amount).times(2)) } }] : []),
      ]) as typeof one.input;
      for (let left = random.between(1, 3); left > 0; left -= 1) {
        const again = random.chance(0.3);
        later(
          random.between(0, FIRE_MS),
          async () => void (await attempt(() => world.start({ ...one, input }, { again }))),
        );
      }
    }
    return undefined;
  },
};

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
    const resumeIfStopped = async (): Promise<void> => {
      for (const stop of world.stops) stop.toMs ??= Date.now();
      while (world.engine.newest(accountStopWorkflowId(DEFAULT_ACCOUNT))?.isOpen) {
        await resume();
        await sleep(MINUTE_MS);
      }
      // A failover may still forget it.
      later(MINUTE_MS, resumeIfStopped);
    };
    return resumeIfStopped;
  },
};

const REVERT_TO = { network: 'tron', wallet: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE' };
/** Decisions about which a person may be wrong: what may be there is said not to be, or is another's. */
const MAY_BE_WRONG: readonly string[] = ['close-absent', 'adopt', 'refuse'];

/** Decides parked orders in any of the ways that they offer. */
async function decideAnyhow({ world, random }: Scene, report: OperatorReport): Promise<void> {
  for await (const one of world.orders.all({ status: 'parked' })) {
    const handle = handleOf(world.orders, one);
    await attempt(async () => {
      const { attention, revision, runId } = await handle.state();
      const ways = (attention?.allowed ?? []).flatMap((action): Way[] => {
        if (MAY_BE_WRONG.includes(action) || (action === 'approve' && attention?.code !== 'policy')) return [];
        if (action !== 'finish' && action !== 'revert') return [{ action }];
        return offeredWays(attention?.reason ?? '', action, REVERT_TO);
      });
      if (ways.length === 0) return;
      const way = random.one(ways);
      await handle.decide({ ...SAID, ...way, revision, runId });
      world.say(`${one.orderId}: ${way.action}`);
      report.choices.push({ event: 'decide', workflowId: handle.workflowId, revision });
    });
  }
}

/** Parked orders are decided while things still go wrong. */
const decisions =
  (report: OperatorReport): Act['begin'] =>
  (scene) => {
    const { world, random } = scene;
    const next = (): void =>
      later(random.between(MINUTE_MS, 5 * MINUTE_MS), async () => {
        if (world.clock.elapsedMs() > FIRE_MS) return;
        await (random.chance(0.5)
          ? decideAnyhow(scene, report)
          : decideParked(world.orders, report, { isRight: !world.isElsewhere }));
        next();
      });
    next();
    return undefined;
  };

export const ofPeople = (report: OperatorReport) => ({
  ...{ interference, repeats, otherInputs, stops },
  decisions: { share: 0.5, begin: decisions(report) },
});
