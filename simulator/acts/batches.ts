import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineSearchAttributeKey } from '@temporalio/common';
import { csvOf, type PlannedBatch, planBatch } from '../../chaos/batch.js';
import {
  batchWorkflowId,
  DEFAULT_ACCOUNT,
  ORDERS_TASK_QUEUE,
  periodBatchId,
  SCHEDULED_BATCH_WORKFLOW,
  scheduledBatchWorkflowId,
} from '../../src/contract/names.js';
import type { Random } from '../random.js';
import type { World } from '../world.js';
import { type Act, attempt, FIRE_MS, later, MINUTE_MS, SAID } from './act.js';

const PERIOD = '2026-11-28';
const SCHEDULED_START_TIME = defineSearchAttributeKey('TemporalScheduledStartTime', 'DATETIME');

/** A person stops a batch that pauses again after so many resumes. */
const MOST_RESUMED = 5;

/** Where the rows of a batch come from. */
const SOURCES = ['rows', 'file', 'schedule'] as const;

/** A batch as a person or a schedule starts it, and starts it again once Temporal forgot something. */
class Batch {
  readonly #batchId: string;
  readonly #plan: string;
  #mayBePart = false;

  constructor(
    private readonly world: World,
    private readonly planned: PlannedBatch,
    private readonly source: (typeof SOURCES)[number],
    private readonly approval: 'required' | 'none',
    private readonly folder: string,
  ) {
    this.#plan = planned.batchId.replace('.', '-');
    this.#batchId = source === 'schedule' ? periodBatchId(this.#plan, PERIOD) : planned.batchId;
  }

  get #handle() {
    return this.world.orders.batches.handle(this.#batchId);
  }

  get #path(): string {
    return `${this.#plan}-${PERIOD}.csv`;
  }

  /** Writes the file, as if it was written at this virtual time. */
  async write(rows = this.planned.rows): Promise<void> {
    const path = join(this.folder, this.#path);
    await writeFile(path, csvOf(rows), { mode: 0o600 });
    await utimes(path, Date.now() / 1_000, Date.now() / 1_000);
  }

  /** Somebody changes the file: what is planned by then is not sent from another one. */
  async edit(): Promise<void> {
    this.world.say(`batch ${this.#batchId}: its file is changed`);
    this.#mayBePart = true;
    await this.write(this.planned.rows.toSpliced(-1));
  }

  async start(): Promise<void> {
    this.world.say(`batch ${this.#batchId} starts: ${this.source}`);
    for (let tries = 3; tries > 0 && !(await attempt(() => this.#start())); tries -= 1) await sleep(MINUTE_MS);
  }

  async #start(): Promise<unknown> {
    const { approval } = this;
    const how = { approval, compensation: 'report' as const, startedBy: this.planned.said.startedBy };
    const rows = this.planned.rows.map(({ input }) => input.order) as never;
    if (this.source === 'rows') return this.world.orders.batches.start({ batchId: this.#batchId, rows, ...how });
    if (this.source === 'file')
      return this.world.orders.batches.start({ batchId: this.#batchId, file: { path: this.#path }, ...how });
    const workflowId = `${scheduledBatchWorkflowId(DEFAULT_ACCOUNT, this.#plan)}-${PERIOD}T06:00:00Z`;
    if (this.world.engine.newest(workflowId)?.isOpen) return undefined;
    return this.world.engine.client.workflow.start(SCHEDULED_BATCH_WORKFLOW, {
      ...{ workflowId, taskQueue: ORDERS_TASK_QUEUE },
      args: [{ plan: this.#plan, filePattern: `${this.#plan}-{period}.csv`, batch: how }],
      typedSearchAttributes: [{ key: SCHEDULED_START_TIME, value: new Date(`${PERIOD}T06:00:00Z`) }],
    });
  }

  /** What a person may do to a batch under way. */
  async interrupt(act: 'pause' | 'resume' | 'stop'): Promise<void> {
    this.world.say(`batch ${this.#batchId}: ${act}`);
    if (await attempt(() => this.#handle[act](SAID))) this.#mayBePart ||= act === 'stop';
  }

  /** A reset of the run to one of its workflow tasks. */
  async reset(random: Random): Promise<void> {
    const run = this.world.engine.newest(batchWorkflowId(DEFAULT_ACCOUNT, this.#batchId));
    const tasks = run?.history.filter((event) => event.workflowTaskCompletedEventAttributes) ?? [];
    if (!run || tasks.length === 0) return;
    this.world.say(`batch ${this.#batchId} is reset`);
    const { eventId } = random.one(tasks);
    const workflowExecution = run.execution;
    const request = { namespace: 'default', workflowExecution, workflowTaskFinishEventId: eventId, reason: 'a look' };
    await attempt(() => this.world.engine.client.workflowService.resetWorkflowExecution(request as never));
  }

  /** Gives it what it waits for, until it ends. Rows of one that nobody stopped are lost if they have no order. */
  async toItsEnd(): Promise<void> {
    const isOpen = () =>
      this.world
        .open()
        .some(({ workflowId }) => workflowId.includes(this.#plan) || workflowId === this.#handle.workflowId);
    for (let resumed = 0; isOpen(); ) {
      await attempt(async () => {
        const { phase, plan } = await this.#handle.state();
        if (phase === 'awaitingApproval' && plan)
          await this.#handle.approve({ digest: plan.digest, by: this.planned.said.approvedBy });
        if (phase !== 'paused') return;
        // Whoever cannot bring a changed file back stops it.
        resumed += 1;
        await this.interrupt(resumed > MOST_RESUMED ? 'stop' : 'resume');
      });
      await sleep(MINUTE_MS);
    }
    if (this.#mayBePart) return;
    for (const one of this.planned.rows) this.world.ofBatches.add(one.orderId);
  }
}

/** Batches of rows, files and schedules that are paused, resumed, stopped, reset, and whose files are changed. */
const batches: Act = {
  share: 0.3,
  begin({ world, random }) {
    const folder = mkdtempSync(join(tmpdir(), 'payment-orders-simulator-'));
    world.atEnd.push(() => rmSync(folder, { recursive: true }));
    const directories = { batchDir: folder, reportDir: join(folder, 'reports') };
    mkdirSync(directories.reportDir, { mode: 0o700 });
    world.changes.push((config) => ({ ...config, directories }));
    const ends: Promise<void>[] = [];
    for (let n = random.between(1, 3); n > 0; n -= 1) {
      const planned = planBatch(`${world.seed}.${n}`);
      const approval = random.chance(0.3) ? 'required' : 'none';
      const batch = new Batch(world, planned, random.one(SOURCES), approval, folder);
      later(random.between(0, FIRE_MS / 2), async () => {
        await batch.write();
        const live = async () => {
          await batch.start();
          ends.push(batch.toItsEnd());
        };
        await live();
        world.startedAgain.push(live);
      });
      for (let left = random.between(0, 4); left > 0; left -= 1) {
        const act = random.one(['pause', 'resume', 'reset', 'reset', 'stop', 'edit'] as const);
        const atMs = random.between(FIRE_MS / 10, FIRE_MS);
        later(atMs, async () => {
          if (act === 'edit') return batch.edit();
          if (act !== 'reset') return batch.interrupt(act);
          await batch.reset(random);
          // One that had ended is open again.
          ends.push(batch.toItsEnd());
        });
      }
    }
    return async () => void (await Promise.all(ends));
  },
};

export const ofBatches = { batches };
