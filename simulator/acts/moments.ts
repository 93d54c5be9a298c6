import { Interference } from '../../chaos/interference.js';
import { DEFAULT_ACCOUNT, orderWorkflowId } from '../../src/contract/names.js';
import type { Process } from '../process.js';
import { type Act, FIRE_MS, later, MINUTE_MS } from './act.js';

/** What goes wrong at the very moments of a create: its worker dies or stands still, its run is meddled with. */
const moments: Act = {
  share: 0.5,
  begin({ world, random }) {
    const operator = new Interference(world.orders, `moments of ${world.seed}`);
    const share = random.next() / 3;
    let count = 0;
    const replace = (worker: Process) => {
      world.workers.splice(world.workers.indexOf(worker), 1);
      later(random.between(0, MINUTE_MS), () => world.startWorker());
    };
    world.service.onMoment = (moment, worker, orderId) => {
      if (!random.chance(share) || world.clock.elapsedMs() > FIRE_MS || !world.workers.includes(worker)) return;
      count += 1;
      const what = random.one(['killed', 'frozen', 'meddled with', 'meddled with'] as const);
      world.say(`${orderId} is ${moment}: ${what === 'meddled with' ? 'its run' : worker.name} is ${what}`);
      if (what === 'meddled with') {
        const run = world.engine.newest(orderWorkflowId(DEFAULT_ACCOUNT, orderId));
        if (run?.isOpen) operator.meddle(run.execution, String(count));
        return;
      }
      replace(worker);
      if (what === 'killed') return worker.kill();
      world.standStill(worker, random.between(1_000, 3 * MINUTE_MS));
    };
    return () => operator.done();
  },
};

export const ofMoments = { moments };
