import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BatchHandle } from '../../src/client/batch/batch-handle.js';
import type { PaymentOrders } from '../../src/client.js';
import type { BatchResult, BatchState } from '../../src/contract/batch/batch.js';
import { batchLine } from '../../src/starter/batch-text.js';
import type { Stack } from './stack.js';

/** Rows of the demo's payroll. */
export const BATCH_ROWS = 50;

const PERIOD = '2026-11-27';
const APPROVAL_WITHIN_MS = 60_000;

/** What became of the batch. `wrong` says what differs from what was expected; empty = all as it should be. */
export interface BatchOutcome {
  summary: string;
  workflowId: string;
  runId: string;
  wrong: string[];
}

/** Plays a Friday: creates the schedule and its file, lets it run, approves as a second person, follows it to the report. */
export async function runScheduledBatch(
  orders: PaymentOrders,
  { batchDir, sandbox }: Stack,
  runId: string,
  log: (line: string) => void,
): Promise<BatchOutcome> {
  const plan = `payroll-${runId}`;
  const file = join(batchDir, `${plan}-${PERIOD}.csv`);
  await writeFile(file, payroll(plan));
  // As if exported an hour ago: a file written just now would first be left to rest for half a minute.
  await utimes(file, Date.now() / 1_000, Date.now() / 1_000 - 3_600);
  const { scheduleId } = await orders.schedules.create({
    plan,
    cron: ['0 10 * * FRI'],
    timeZone: 'Europe/Berlin',
    filePattern: `${plan}-{period}.csv`,
    batch: { startedBy: 'ann', approval: 'required', compensation: 'report' },
  });
  // Friday may be days away: the trigger runs the very batch that the schedule would have run then.
  const { workflowId, batch } = await orders.schedules.trigger(plan, { period: PERIOD });
  const { plan: planned } = await untilApprovalIsAsked(batch, log);
  log(`${planned?.rows} rows planned, digest ${planned?.digest.slice(0, 12)}…, bob approves`);
  await batch.approve({ digest: planned?.digest ?? '', by: 'bob' });
  const result = await follow(batch, log);
  const scheduled = orders.client.workflow.getHandle(workflowId);
  const wrong = [...differences(result, await executedTimes(sandbox.adminUrl, plan)), ...(await failureOf(scheduled))];
  await orders.client.schedule.getHandle(scheduleId).delete();
  return { summary: summaryOf(result), workflowId, runId: (await scheduled.describe()).runId, wrong };
}

/** One card for all: the plan warns of rows with the same wallet and amount, so the amounts differ. */
function payroll(plan: string): string {
  const rows = Array.from({ length: BATCH_ROWS }, (_, index) =>
    [`${plan}-${String(index + 1).padStart(2, '0')}`, 'usd', 'card', `${10 + index}.50`, '4111111111111111'].join(','),
  );
  return ['order_id,currency,network,amount,wallet', ...rows, ''].join('\n');
}

async function untilApprovalIsAsked(batch: BatchHandle, log: (line: string) => void): Promise<BatchState> {
  log('the worker waits for the file to stop growing, then checks every row');
  const deadlineMs = Date.now() + APPROVAL_WITHIN_MS;
  for (;;) {
    // Unknown until its file is there, and then it may have failed already.
    const state = await batch.state().catch(() => undefined);
    if (state?.phase === 'awaitingApproval') return state;
    if (Date.now() > deadlineMs)
      throw new Error(`the batch asks for no approval; it is ${state?.phase ?? 'not started'}`);
    await sleep(500);
  }
}

async function follow(batch: BatchHandle, log: (line: string) => void): Promise<BatchResult> {
  let ended = false;
  const result = batch.result().finally(() => {
    ended = true;
  });
  result.catch(() => undefined);
  while (!ended) {
    // A busy machine may not answer in time.
    const state = await batch.state().catch(() => undefined);
    if (state) log(batchLine(state));
    await Promise.race([sleep(1_500), result]);
  }
  return result;
}

/** How often the service executed the orders of the plan. */
async function executedTimes(adminUrl: string, plan: string): Promise<number[]> {
  const state = (await (await fetch(`${adminUrl}/state`)).json()) as { executedByOrderId: Record<string, number> };
  return Object.entries(state.executedByOrderId).flatMap(([id, times]) => (id.startsWith(`${plan}-`) ? [times] : []));
}

function differences({ outcomes, report }: BatchResult, executed: readonly number[]): string[] {
  return [
    ...(outcomes.completed === BATCH_ROWS
      ? []
      : [`${outcomes.completed} of ${BATCH_ROWS} rows completed, the others as the report says`]),
    ...(executed.length === BATCH_ROWS && executed.every((times) => times === 1)
      ? []
      : [
          `the service executed ${executed.length} orders, ${executed.filter((times) => times > 1).length} of them twice`,
        ]),
    ...(report ? [] : ['there is no report']),
  ];
}

async function failureOf(scheduled: { result(): Promise<unknown> }): Promise<string[]> {
  try {
    await scheduled.result();
    return [];
  } catch (error) {
    return [`its scheduled run failed: ${error instanceof Error ? error.message : String(error)}`];
  }
}

function summaryOf({ batchId, outcomes, moved, report }: BatchResult): string {
  const paid = Object.entries(moved).map(([currency, amount]) => `${amount} ${currency}`);
  return `batch ${batchId}: started by ann, approved by bob, ${outcomes.completed} of ${BATCH_ROWS} rows completed, paid ${paid.join(', ')}, report .demo/batches/reports/${report?.path ?? '–'}`;
}
