import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle, WorkflowStartOptions } from '@temporalio/client';
import { describe, expect, test, vi } from 'vitest';
import { readBatchSource } from '../../../src/batch-files/source.js';
import type { BatchInput } from '../../../src/contract/batch/batch.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';
import { pendingActivity } from '../../support/pending-activity.js';
import { serviceView } from '../create/service-view.fixture.js';
import { type BatchLab, openBatchLab, startRows, testRows, untilPhase } from './batches.fixture.js';

const CARD = '4111111111111111';

const lab = useGatedLab<BatchLab>(undefined, { callbacks: false }, openBatchLab);

const inlineRows = (orderId: string) => [
  { order_id: orderId, currency: 'usd', network: 'card', amount: '12.50', wallet: CARD },
];

/** Starts a batch that asks for approval, with a second argument that only a run before it could have given. */
async function startForged(orderId: string, options: Partial<WorkflowStartOptions>) {
  const batchId = newOrderId('forged');
  const rows = inlineRows(orderId);
  const source = await readBatchSource(undefined, { rows });
  const plan = {
    account: 'default',
    batchId,
    sha256: source.sha256,
    rows: 1,
    currencies: [],
    warnings: [],
    warningCount: 0,
    compensation: null,
    resend: 'once',
    again: false,
    digest: 'f'.repeat(64),
  };
  const input: BatchInput = { batchId, rows, approval: 'required', startedBy: 'mallory' };
  const carried = { plan, startedAt: new Date().toISOString(), approvedBy: 'nobody' };
  return lab.temporal.client.workflow.start('bulkWithdraw', {
    ...options,
    workflowId: `bulk:default:${batchId}`,
    taskQueue: 'payment-orders',
    args: [input, carried],
  });
}

const workflow = (workflowId: string, runId?: string) => lab.temporal.client.workflow.getHandle(workflowId, runId);

/** The run after this one, once there is one. */
const nextRunOf = (handle: WorkflowHandle & { firstExecutionRunId: string }): Promise<string> =>
  vi.waitFor(
    async () => {
      const { runId } = await workflow(handle.workflowId).describe();
      expect(runId).not.toBe(handle.firstExecutionRunId);
      return runId;
    },
    { timeout: 60_000, interval: 50 },
  );

/** Lets the server repeat the batch's activity no more, then fails it: so fails the batch, in a way that may be repeated. */
async function failByHand(workflowId: string): Promise<void> {
  const { client, namespace } = lab.temporal;
  const activityId = await pendingActivity(client, workflowId);
  await client.workflowService.updateActivityOptions({
    namespace,
    execution: { workflowId },
    identity: 'operator',
    id: activityId,
    activityOptions: { retryPolicy: { maximumAttempts: 1 } },
    updateMask: { paths: ['retry_policy.maximum_attempts'] },
  });
  await client.activity.fail({ workflowId, activityId }, new Error('by hand'));
}

describe('a batch started with what only a run before it could know', () => {
  test('as a cron is refused in every run, pays nothing and believes nothing', async () => {
    const orderId = newOrderId('cron');
    const handle = await startForged(orderId, { cronSchedule: '@every 1s' });
    const second = await nextRunOf(handle);
    const failed = async () => {
      const end = (await workflow(handle.workflowId, second).fetchHistory()).events?.at(-1);
      const attributes =
        end?.workflowExecutionFailedEventAttributes ?? end?.workflowExecutionContinuedAsNewEventAttributes;
      return attributes?.failure;
    };
    await vi.waitFor(
      async () =>
        expect(await failed()).toMatchObject({
          message: expect.stringContaining(
            'workflow: must be started without execution or run time-out and without cron',
          ),
          applicationFailureInfo: { type: 'InvalidInput' },
        }),
      { timeout: 60_000, interval: 100 },
    );
    await workflow(handle.workflowId).terminate();
    expect(lab.requestsOf(orderId)).toEqual([]);
  });

  test('and with retries waits for its approval in every run', async () => {
    const orderId = newOrderId('retried');
    let held = true;
    // Its plan asks for balances: time to fail it by hand, as an operator may.
    lab.gate.rule = async ({ path }) => {
      while (held && path.endsWith('/balances')) await sleep(50);
      return undefined;
    };
    const handle = await startForged(orderId, { retry: { maximumAttempts: 2, initialInterval: '100ms' } });
    await vi.waitUntil(() => lab.gate.requests.some(({ path }) => path.endsWith('/balances')), 60_000);
    await failByHand(handle.workflowId);
    await nextRunOf(handle);
    held = false;
    const phase = () => workflow(handle.workflowId).query<{ phase: string; approvedBy?: string }>('batchState');
    await vi.waitFor(async () => expect(await phase()).toMatchObject({ phase: 'awaitingApproval' }), 60_000);
    expect(await phase()).not.toHaveProperty('approvedBy');
    expect(serviceView(lab, orderId).creates).toBe(0);
    await workflow(handle.workflowId).terminate();
  });
});

describe('a plan whose batch id holds a card number', () => {
  test('is refused, and no search attribute shows it', async () => {
    const handle = await lab.temporal.client.workflow.start('bulkWithdraw', {
      workflowId: `bulk-plan:default:${newOrderId('plan')}`,
      taskQueue: 'payment-orders',
      args: [{ batchId: CARD, rows: inlineRows(newOrderId('row')), startedBy: 'ann', planOnly: true }],
    });
    await expect(handle.result()).rejects.toMatchObject({
      cause: {
        type: 'InvalidInput',
        message: expect.stringMatching(/^batchId: must not hold a card number .*Nothing was sent$/),
      },
    });
    expect(JSON.stringify((await handle.describe()).searchAttributes)).not.toContain(CARD);
  });
});

describe('an approval that comes too late', () => {
  test('is told who was faster, their name masked', async () => {
    const batch = await startRows(lab, testRows('twice', 1), { approval: 'required' });
    const { plan } = await untilPhase(batch, 'awaitingApproval');
    const approval = { digest: plan?.digest ?? '', by: 'anna.miller@example.com' };
    // Both wait for a worker, so that one task takes the one and refuses the other.
    await lab.stopWorkers();
    const answers = Promise.allSettled([batch.approve(approval), batch.approve(approval)]);
    await sleep(1_000);
    await lab.startWorkers({ directories: { batchDir: lab.folder, reportDir: lab.folder } });
    const refused = (await answers).flatMap((answer) => (answer.status === 'rejected' ? [String(answer.reason)] : []));
    expect(refused).toEqual([expect.stringContaining('it was approved by anna.****')]);
    await batch.result();
  });
});
