import { type Act, FIRE_MS, later, MINUTE_MS } from './act.js';

/** Kills a worker now and then, or lets it stand still for a while; another one takes its place. */
const kills: Act = {
  share: 0.8,
  begin({ world, random }) {
    const next = (): void =>
      later(random.between(20_000, 180_000), async () => {
        if (world.clock.elapsedMs() > FIRE_MS) return;
        const worker = world.workers.shift();
        if (worker && random.chance(0.3)) {
          const stillMs = random.between(10_000, 150_000);
          world.say(`${worker.name} stands still for ${Math.round(stillMs / 1_000)} s, and is replaced`);
          world.standStill(worker, stillMs);
        } else if (worker) {
          world.say(`${worker.name} is killed`);
          worker.kill();
        }
        await world.startWorker();
        next();
      });
    next();
    return undefined;
  },
};

/** Temporal comes back without its last time; callers start again what they had started. */
const restore: Act = {
  share: 0.25,
  begin({ world, random }) {
    later(random.between(FIRE_MS / 4, FIRE_MS), () => {
      world.restore(random.between(1_000, 15 * MINUTE_MS));
      later(random.between(0, MINUTE_MS), () => world.startWorkers());
    });
    return undefined;
  },
};

/** Another cluster takes the namespace over, without its last seconds. */
const failover: Act = {
  share: 0.25,
  begin({ world, random }) {
    world.engine.failovers = [];
    for (let left = random.between(1, 3); left > 0; left -= 1) {
      later(random.between(0, FIRE_MS), () => {
        world.failOver(random.between(0, 10_000));
      });
    }
    return undefined;
  },
};

/** Runs that ended are forgotten soon. */
const retention: Act = {
  share: 0.25,
  begin({ world, random }) {
    const keptMs = random.between(MINUTE_MS, 20 * MINUTE_MS);
    world.say(`Temporal forgets runs ${Math.round(keptMs / 1_000)} s after their end`);
    const next = (): void =>
      later(MINUTE_MS, () => {
        world.engine.forget(Date.now() - keptMs);
        if (world.clock.elapsedMs() < FIRE_MS) next();
      });
    next();
    return undefined;
  },
};

/** Lists and counts show what was so a while ago. */
const oldLists: Act = {
  share: 0.5,
  begin({ world, random }) {
    const lagMs = random.between(200, 5_000);
    world.say(`lists of Temporal are ${lagMs} ms old`);
    world.engine.listLagMs = lagMs;
    return async () => {
      world.engine.listLagMs = 0;
    };
  },
};

export const ofTemporal = { kills, restore, failover, retention, oldLists };
