import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WorkflowNotFoundError } from '@temporalio/client';
import { csvOf, type PlannedBatch, planBatch } from '../chaos/batch.js';
import { canary } from '../chaos/canaries.js';
import type { Finding } from '../chaos/evidence/evidence.js';
import type { ChaosStack } from '../chaos/stack.js';
import { DEFAULT_ACCOUNT, scheduledBatchWorkflowId, scheduleIdOf } from '../src/contract/names.js';
import { periodAt } from '../src/validation/batch-input.js';

const PLAN = 'payroll';
/** Who created the schedule, as a value to look for. */
export const PAYROLL_STARTED = { orderId: PLAN, input: { startedBy: canary('who started a batch', PLAN) } };
const MINUTE_MS = 60_000;
/** There are files for this long after the load, until the schedule ends. */
const MARGIN_MS = 30 * MINUTE_MS;
/** A run that was due so shortly before the end of its schedule may not have been started. */
const LATEST_MS = 10_000;

/** Workflow id of a period's run, which Temporal makes of its time. */
const runId = (period: string): string =>
  `${scheduledBatchWorkflowId(DEFAULT_ACCOUNT, PLAN)}-${period.replace(/-(\d\d)$/, ':$1')}:00Z`;

/** A schedule of batches: each hour, or each cycle of a shorter run. */
export class Payroll {
  readonly runs: { atMs: number; period: string; rows: PlannedBatch['rows'] }[] = [];
  readonly findings: Finding[] = [];

  private constructor(private readonly stack: ChaosStack) {}

  /** Creates the schedule and writes the files of its runs. */
  static async create(stack: ChaosStack, seed: string, cycleMs: number, untilMs: number): Promise<Payroll> {
    const payroll = new Payroll(stack);
    const every = Math.min(60, Math.max(1, Math.floor(cycleMs / MINUTE_MS)));
    const { nextRuns } = await stack.orders.schedules.create({
      ...{ plan: PLAN, cron: [every === 60 ? '0 * * * *' : `*/${every} * * * *`], periodFormat: 'minute' },
      ...{ filePattern: `${PLAN}-{period}.csv`, batch: { compensation: 'report', ...PAYROLL_STARTED.input } },
    });
    for (let atMs = nextRuns[0]?.getTime() ?? untilMs; atMs < untilMs + MARGIN_MS; atMs += MINUTE_MS) {
      if (new Date(atMs).getUTCMinutes() % every !== 0) continue;
      const period = periodAt(new Date(atMs), 'UTC', 'minute');
      const batch = planBatch(`${seed}-${period}`);
      payroll.runs.push({ atMs, period, rows: batch.rows });
      await writeFile(join(stack.batchDir, `${PLAN}-${period}.csv`), csvOf(batch.rows), { mode: 0o600 });
    }
    return payroll;
  }

  /** Ends the schedule and waits for its batches; returns their rows. A batch that was not started, or failed, is a finding. */
  async end(): Promise<PlannedBatch['rows']> {
    await this.stack.client.schedule.getHandle(scheduleIdOf(DEFAULT_ACCOUNT, PLAN)).delete();
    const endedAtMs = Date.now();
    const started = [];
    let busyUntilMs = 0;
    for (const { atMs, period, rows } of this.runs.filter((run) => run.atMs < endedAtMs)) {
      try {
        const handle = this.stack.client.workflow.getHandle(runId(period));
        await handle.result();
        busyUntilMs = (await handle.describe()).closeTime?.getTime() ?? 0;
        started.push(...rows);
      } catch (error) {
        // A run is skipped while the one before it is open.
        const isSkipped = atMs < busyUntilMs || atMs > endedAtMs - LATEST_MS;
        const text = `the batch of ${period}: ${error instanceof Error ? error.message : error}`;
        if (!(error instanceof WorkflowNotFoundError && isSkipped)) this.findings.push({ text });
      }
    }
    return started;
  }
}
