import proto from '@temporalio/proto';
import { afterEach, expect, test, vi } from 'vitest';
import { ORDER_CALLBACK_SIGNAL } from '../../src/contract/names.js';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';
import {
  type BatchLab,
  executedOf,
  openBatchLab,
  startRows,
  testRows,
  untilState,
} from '../workflows/batch/batches.fixture.js';
import { serviceView } from '../workflows/create/service-view.fixture.js';
import { rogueAt } from './rogue.fixture.js';
import { keyOf } from './stored-bytes.fixture.js';

vi.setConfig({ testTimeout: 150_000 });

const { CommandType } = proto.temporal.api.enums.v1;
const REQUIRED = { encryptionKeys: [keyOf('a')], encryptionRequired: true };

let lab: Lab;
afterEach(() => lab?.close());

/**
 * A rogue takes a workflow task while our workers are away, and has the run's first activity of a type scheduled once more, with
 * its own encrypted input. Resolves once that copy has ended at a worker of ours.
 */
async function scheduleAgain(workflowId: string, type: string, startWorkers: () => Promise<void>): Promise<void> {
  const rogue = rogueAt(lab);
  const scheduledOf = async () =>
    (await rogue.historyOf(workflowId)).filter(
      ({ activityTaskScheduledEventAttributes: asked }) => asked?.activityType?.name === type,
    );
  const [first] = await scheduledOf();
  const { activityId, activityType, taskQueue, input, startToCloseTimeout, heartbeatTimeout, retryPolicy } =
    first?.activityTaskScheduledEventAttributes ?? {};
  const before = (await scheduledOf()).length;
  await lab.stopWorkers();
  const copy = { activityId, activityType, taskQueue, input, startToCloseTimeout, heartbeatTimeout, retryPolicy };
  let isCopied = false;
  const worker = rogue.answerWorkflowTasks(({ workflowExecution }) => {
    if (isCopied || workflowExecution?.workflowId !== workflowId) return [];
    isCopied = true;
    return [
      {
        commandType: CommandType.COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK,
        scheduleActivityTaskCommandAttributes: copy,
      },
    ];
  });
  const { namespace } = lab.temporal;
  await rogue.client.workflowService.resetStickyTaskQueue({ namespace, execution: { workflowId } });
  await rogue.client.workflow.getHandle(workflowId).signal(ORDER_CALLBACK_SIGNAL);
  await vi.waitUntil(async () => (await scheduledOf()).length > before, { timeout: 60_000, interval: 100 });
  await worker.stop();
  await startWorkers();
  const copied = String((await scheduledOf()).at(-1)?.eventId);
  const hasEnded = async () =>
    (await rogue.historyOf(workflowId)).some(
      ({ activityTaskCompletedEventAttributes: done, activityTaskFailedEventAttributes: failed }) =>
        String((done ?? failed)?.scheduledEventId) === copied,
    );
  await vi.waitUntil(hasEnded, { timeout: 60_000, interval: 100 });
}

test('a create that something without the keys schedules once more in its run sends nothing', async () => {
  lab = await openLab({ ...REQUIRED, sandbox: { settings: { duplicateMode: 'c' } } });
  const orderId = newOrderId('copied');
  const marker = 'lag_ms=120000 after_ms=120000';
  const { workflowId } = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker }));
  const isAnswered = async () =>
    (await rogueAt(lab).historyOf(workflowId)).some((event) => event.activityTaskCompletedEventAttributes);
  await vi.waitUntil(isAnswered, { timeout: 60_000, interval: 50 });
  await scheduleAgain(workflowId, 'createOrder', lab.startWorkers);
  expect(serviceView(lab, orderId)).toMatchObject({ creates: 1, executed: 1 });
});

const BY = { by: 'night shift', reason: 'fraud' };

test.for(['paused', 'stopped'] as const)('a chunk of a batch that is %s sends no row when it is', async (how) => {
  const batches: BatchLab = await openBatchLab({ ...REQUIRED, workflowThread: false });
  lab = batches;
  const rows = testRows(how, 60, (row) => (row === 1 ? 'after_ms=90000' : 'after_ms=300'));
  const batch = await startRows(batches, rows, { maxInFlight: 20 });
  await untilState(batch, ({ progress }) => progress.started > 0);
  if (how === 'paused') await batch.pause(BY);
  else await batch.stop(BY);
  await untilState(
    batch,
    ({ phase, progress }) => phase === (how === 'paused' ? 'paused' : 'following') && progress.open.length <= 1,
  );
  const before = executedOf(lab, rows);
  expect(before).toBeLessThan(rows.length);
  const directories = { batchDir: batches.folder, reportDir: batches.folder };
  await scheduleAgain(batch.workflowId, 'sendBatchRows', () => lab.startWorkers({ directories }));
  expect(executedOf(lab, rows)).toBe(before);
});
