import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BatchHandle } from '../../src/client/batch/batch-handle.js';
import type { BatchState } from '../../src/contract/batch/batch.js';
import type { Installation } from './installation.js';
import type { Scenario } from './scenarios.js';

const PERIOD = '2026-11-27';

/** Two rows of a payroll. */
const payroll = (plan: string): string =>
  [
    'order_id,currency,network,amount,wallet',
    `${plan}-1,usd,card,12.50,4111111111111111`,
    `${plan}-2,usd,card,13.50,4111111111111111`,
    '',
  ].join('\n');

async function untilApprovalIsAsked(batch: BatchHandle): Promise<BatchState> {
  for (;;) {
    // Unknown until its file has stopped growing.
    const state = await batch.state().catch(() => undefined);
    if (state?.phase === 'awaitingApproval') return state;
    await sleep(200);
  }
}

/** The run of a plan's period; `decide` is what a person does with its batch. */
const scenario = (
  name: string,
  batchDir: string,
  decide: (batch: BatchHandle, state: BatchState) => Promise<void>,
): Scenario => ({
  name,
  run: async ({ orders, client }: Installation) => {
    await writeFile(join(batchDir, `${name}-${PERIOD}.csv`), payroll(name));
    const { scheduleId } = await orders.schedules.create({
      plan: name,
      cron: ['0 10 * * FRI'],
      filePattern: `${name}-{period}.csv`,
      batch: { startedBy: 'ann', approval: 'required' },
    });
    const { workflowId, batch } = await orders.schedules.trigger(name, { period: PERIOD });
    await decide(batch, await untilApprovalIsAsked(batch));
    await client.workflow
      .getHandle(workflowId)
      .result()
      .catch(() => undefined);
    await client.schedule.getHandle(scheduleId).delete();
    return workflowId;
  },
});

/** Runs of `scheduledBatch`; their files are written to `batchDir`, the BATCH_DIR of the installation. */
export const scheduledBatchScenarios = (batchDir: string): Scenario[] => [
  scenario('scheduled-batch', batchDir, (batch, { plan }) => batch.approve({ digest: plan?.digest ?? '', by: 'bob' })),
  scenario('scheduled-batch-incomplete', batchDir, (batch) => batch.stop({ by: 'bob', reason: 'wrong month' })),
];
