import { outside, SPELLS } from '../chaos/faults.js';
import { type PlannedOrder, planOrders } from '../chaos/inputs.js';
import { Interference } from '../chaos/interference.js';
import { decideParked, type OperatorReport } from '../chaos/operator.js';
import type { World } from './world.js';

const MINUTE_MS = 60_000;
/** Orders start, and things go wrong, for this long. */
const FIRE_MS = 30 * MINUTE_MS;
/** How often an operator resets, pauses, holds or cancels an order. */
const INTERFERES_EVERY_MS = 2 * MINUTE_MS;
/** An operator looks this often, once all is well. */
const ROUND_MS = 5 * MINUTE_MS;
/** Longest time that anything of a story may take. */
const END_MS = 72 * 60 * MINUTE_MS;

/** Lives the story of a world's seed to its end. */
export async function live(world: World, count: number): Promise<OperatorReport> {
  const { random, clock } = world;
  const report: OperatorReport = { parks: new Map(), decisions: new Map(), choices: [] };
  const planned = planOrders(count, String(world.seed));
  const forgets = random.one(['never', 'never', 'restored', 'failed over'] as const);
  if (forgets === 'failed over') world.engine.failovers = [];
  startWorkers(world);
  let left = count;
  for (const one of planned) {
    later(random.between(0, FIRE_MS), async () => {
      await world.start(one);
      left -= 1;
    });
  }
  killWorkers(world);
  if (forgets !== 'never') later(random.between(FIRE_MS / 4, FIRE_MS), () => forget(world, forgets, planned));
  hideOrders(world);
  const interference = new Interference(world.orders, String(world.seed), INTERFERES_EVERY_MS);
  const interfered = interference.run(AbortSignal.timeout(FIRE_MS));
  later(FIRE_MS, async () => {
    await interfered;
    world.say(interference.text);
    world.heal();
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
      await decideParked(world.orders, report);
    }
  });
  await clock.run(Date.now() + END_MS, () => left === 0 && world.isOver());
  return report;
}

/** Something that happens later. A failure of it ends the run. */
const later = (ms: number, act: () => Promise<void> | void): void => void setTimeout(async () => act(), ms);

/** Temporal forgets its last time, and callers start again what they had started. */
async function forget(world: World, how: 'restored' | 'failed over', planned: readonly PlannedOrder[]): Promise<void> {
  const { random, accepted } = world;
  if (how === 'restored') {
    world.restore(random.between(1_000, 15 * MINUTE_MS));
    later(random.between(0, MINUTE_MS), () => startWorkers(world));
  } else world.failOver(random.between(0, 10_000));
  for (const one of planned)
    if (accepted.has(one.orderId)) later(random.between(0, 5 * MINUTE_MS), () => world.start(one));
}

function startWorkers(world: World): void {
  for (let n = 0; n < 2; n += 1) later(0, () => world.startWorker());
}

/** Kills a worker now and then, or lets it stand still for a while; another one takes its place. */
function killWorkers(world: World): void {
  const { random, workers } = world;
  const next = (): void =>
    later(random.between(20_000, 180_000), async () => {
      if (world.clock.elapsedMs() > FIRE_MS) return;
      const worker = workers.shift();
      if (worker && random.chance(0.3)) {
        const stillMs = random.between(10_000, 150_000);
        world.say(`${worker.name} stands still for ${Math.round(stillMs / 1_000)} s, and is replaced`);
        worker.freeze();
        later(stillMs, () => worker.thaw());
      } else {
        world.say(`${worker?.name} is killed`);
        worker?.kill();
      }
      await world.startWorker();
      next();
    });
  next();
}

/** For a while look-ups show nothing, or no create is accepted, as in chaos. */
function hideOrders(world: World): void {
  const { random, service } = world;
  const { admin } = service.double;
  for (const { name, during } of SPELLS) {
    const fromMs = random.between(0, FIRE_MS / 2);
    later(fromMs, () => {
      world.say(name);
      admin.set(during);
    });
    later(fromMs + random.between(MINUTE_MS, 5 * MINUTE_MS), () => {
      world.say(`no longer: ${name}`);
      admin.set(outside({ name, during, fromMs: 0, toMs: 0 }, String(world.seed)));
    });
  }
}
