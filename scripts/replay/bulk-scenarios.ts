import { mkdir, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BatchHandle } from '../../src/client/batch/batch-handle.js';
import { startBatch } from '../../src/client/batch/start-batch.js';
import type { BatchInput, BatchPhase, BatchState } from '../../src/contract/batch/batch.js';
import {
  BULK_WITHDRAW_WORKFLOW,
  batchPlanWorkflowId,
  batchWorkflowId,
  ORDERS_TASK_QUEUE,
} from '../../src/contract/names.js';
import type { Installation } from './installation.js';
import type { Scenario } from './scenarios.js';

const BOB = { by: 'bob', reason: 'recorded' };

/** Payouts whose descriptions steer the sandbox, one a marker. */
const rows = (name: string, markers: readonly string[]): BatchInput['rows'] =>
  markers.map((marker, index) => ({
    order_id: `${name}-${index + 1}`,
    currency: 'usd',
    network: 'card',
    amount: '12.50',
    wallet: '4111111111111111',
    ...(marker && { description: `[sandbox ${marker}]` }),
  }));

async function until(batch: BatchHandle, phase: BatchPhase): Promise<BatchState> {
  for (;;) {
    const state = await batch.state();
    if (state.phase === phase) return state;
    await sleep(50);
  }
}

/** A batch of inline rows; `meanwhile` is what people do to it. */
const scenario = (
  name: string,
  markers: readonly string[],
  options: Partial<BatchInput> = {},
  meanwhile?: (batch: BatchHandle, installation: Installation) => Promise<unknown>,
): Scenario => ({
  name,
  run: async (installation) => {
    const input = { batchId: name, rows: rows(name, markers), startedBy: 'ann', ...options };
    const batch = await startBatch(installation.client, input);
    await meanwhile?.(batch, installation);
    await batch.result().catch(() => undefined);
    return batch.workflowId;
  },
});

/** Started from anywhere, with an input that no client of ours lets pass. */
const raw = (name: string, workflowId: string, input: unknown): Scenario => ({
  name,
  run: async ({ client }: Installation) => {
    const options = { taskQueue: ORDERS_TASK_QUEUE, workflowId, args: [input] };
    await client.workflow.execute(BULK_WITHDRAW_WORKFLOW, options).catch(() => undefined);
    return workflowId;
  },
});

/** Pauses and resumes until the batch goes on in a new run, whose history is the one that is recorded. */
async function untilContinued(batch: BatchHandle, { client }: Installation): Promise<void> {
  const runId = async () => (await client.workflow.getHandle(batch.workflowId).describe()).runId;
  const first = await runId();
  while ((await runId()) === first) {
    // Refused where too many come at once.
    await batch.pause(BOB).catch(() => undefined);
    await batch.resume(BOB).catch(() => undefined);
  }
  await batch.stop(BOB);
}

async function pauseAndResume(batch: BatchHandle): Promise<void> {
  await until(batch, 'sending');
  await batch.pause(BOB);
  await until(batch, 'paused');
  await batch.resume(BOB);
}

const SLOW = Array.from({ length: 6 }, () => 'after_ms=1500');

/** Batches: every kind of end of a row, every kind of interruption, a plan, and inputs that are refused. */
export const BULK_SCENARIOS: readonly Scenario[] = [
  scenario('bulk-outcomes', ['', 'outcome=error', 'create=400', 'create=500-after', 'outcome=completed_partially']),
  scenario('bulk-approved', ['', ''], { approval: 'required' }, async (batch) => {
    const { plan } = await until(batch, 'awaitingApproval');
    await batch.approve({ digest: plan?.digest ?? '', by: 'bob' });
  }),
  scenario('bulk-expired', [''], { approval: 'required', approvalExpiresMs: 1_000 }),
  // The first was recorded before the patch activities-of-one-run.
  scenario('bulk-paused', SLOW, { maxInFlight: 2 }, pauseAndResume),
  scenario('bulk-resumed', SLOW, { maxInFlight: 2 }, pauseAndResume),
  scenario('bulk-stopped', SLOW, { maxInFlight: 2 }, async (batch) => {
    await until(batch, 'sending');
    await batch.stop(BOB);
  }),
  scenario('bulk-halted', ['outcome=error', ...SLOW], { maxInFlight: 1, stopAfter: { failures: 1 } }),
  scenario('bulk-continued', [...SLOW, ...SLOW, ...SLOW, ...SLOW], { maxInFlight: 1 }, untilContinued),
  scenario('bulk-cancelled', SLOW, { maxInFlight: 2 }, async (batch, { client }) => {
    await until(batch, 'sending');
    await client.workflow.getHandle(batch.workflowId).cancel();
  }),
  raw('bulk-plan', batchPlanWorkflowId('default', 'recorded'), {
    rows: rows('bulk-plan', ['']),
    startedBy: 'ann',
    planOnly: true,
  }),
  raw('bulk-garbage', batchWorkflowId('default', 'garbage'), ['no batch at all']),
];

/** A batch whose report cannot be written at first. `reportDir`: REPORT_DIR of its worker. */
export const unwritableScenario = (reportDir: string): Scenario => ({
  name: 'bulk-report-unwritable',
  alone: true,
  run: async ({ client }) => {
    const name = 'bulk-report-unwritable';
    await rm(reportDir, { recursive: true });
    const batch = await startBatch(client, { batchId: name, rows: rows(name, ['']), startedBy: 'ann' });
    while ((await batch.state()).attention === undefined) await sleep(50);
    await mkdir(reportDir, { mode: 0o700 });
    await batch.result();
    return batch.workflowId;
  },
});
