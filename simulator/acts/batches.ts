import { setTimeout as sleep } from 'node:timers/promises';
import { type PlannedBatch, planBatch } from '../../chaos/batch.js';
import { batchWorkflowId, DEFAULT_ACCOUNT } from '../../src/contract/names.js';
import type { Random } from '../random.js';
import type { World } from '../world.js';
import { type Act, attempt, FIRE_MS, later, MINUTE_MS } from './act.js';

const SAID = { by: 'an operator', reason: 'a look at it' };

/** A batch as a person starts it, and starts it again once Temporal forgot something. */
class Batch {
  readonly #input;
  #isStopped = false;

  constructor(
    private readonly world: World,
    private readonly planned: PlannedBatch,
    approval: 'required' | 'none',
  ) {
    const { batchId, rows, said } = planned;
    const orders = rows.map(({ input }) => input.order) as never;
    this.#input = { batchId, rows: orders, approval, compensation: 'report' as const, startedBy: said.startedBy };
  }

  get #handle() {
    return this.world.orders.batches.handle(this.planned.batchId);
  }

  async start(): Promise<void> {
    this.world.say(`batch ${this.planned.batchId} starts`);
    await attempt(() => this.world.orders.batches.start(this.#input));
  }

  /** What a person may do to a batch under way. */
  async interrupt(act: 'pause' | 'resume' | 'stop'): Promise<void> {
    this.world.say(`batch ${this.planned.batchId}: ${act}`);
    if (await attempt(() => this.#handle[act](SAID))) this.#isStopped ||= act === 'stop';
  }

  /** A reset of the run to one of its workflow tasks. */
  reset(random: Random): void {
    const run = this.world.engine.newest(batchWorkflowId(DEFAULT_ACCOUNT, this.planned.batchId));
    const tasks = run?.history.filter((event) => event.workflowTaskCompletedEventAttributes) ?? [];
    if (!run || tasks.length === 0) return;
    this.world.say(`batch ${this.planned.batchId} is reset`);
    const { eventId } = random.one(tasks);
    const workflowExecution = run.execution;
    const request = { namespace: 'default', workflowExecution, workflowTaskFinishEventId: eventId, reason: 'a look' };
    void attempt(() => this.world.engine.client.workflowService.resetWorkflowExecution(request as never));
  }

  /** Gives it what it waits for, until it ends. Rows of one that nobody stopped are lost if they have no order. */
  async toItsEnd(): Promise<void> {
    while (this.world.engine.newest(this.#handle.workflowId)?.isOpen) {
      await attempt(async () => {
        const { phase, plan } = await this.#handle.state();
        if (phase === 'awaitingApproval' && plan)
          await this.#handle.approve({ digest: plan.digest, by: this.planned.said.approvedBy });
        if (phase === 'paused') await this.interrupt('resume');
      });
      await sleep(MINUTE_MS);
    }
    if (this.#isStopped) return;
    for (const one of this.planned.rows) this.world.ofBatches.add(one.orderId);
  }
}

/** Batches that are paused, resumed, stopped and reset. */
const batches: Act = {
  share: 0.3,
  begin({ world, random }) {
    const ends: Promise<void>[] = [];
    for (let n = random.between(1, 3); n > 0; n -= 1) {
      const planned = planBatch(`${world.seed}.${n}`);
      const batch = new Batch(world, planned, random.chance(0.3) ? 'required' : 'none');
      later(random.between(0, FIRE_MS / 2), async () => {
        await batch.start();
        world.startedAgain.push(() => batch.start());
        ends.push(batch.toItsEnd());
      });
      for (let left = random.between(0, 4); left > 0; left -= 1) {
        const act = random.one(['pause', 'resume', 'reset', 'reset', 'stop'] as const);
        const atMs = random.between(FIRE_MS / 10, FIRE_MS);
        later(atMs, () => (act === 'reset' ? batch.reset(random) : batch.interrupt(act)));
      }
    }
    return async () => void (await Promise.all(ends));
  },
};

export const ofBatches = { batches };
