import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import proto from '@temporalio/proto';
import { beforeAll, expect, test, vi } from 'vitest';
import { startBatch } from '../../src/client/batch/start-batch.js';
import { RECONCILE_WORKFLOW, reconcileWorkflowId } from '../../src/contract/names.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { csvOf, executedOf, testRows, useBatchLab } from '../workflows/batch/batches.fixture.js';
import { type Rogue, rogueAt } from './rogue.fixture.js';
import { keyOf } from './stored-bytes.fixture.js';

/* What one run of an id ended with is bound to that id, as is what the next run of it would end with. */

vi.setConfig({ testTimeout: 150_000 });

const { CommandType } = proto.temporal.api.enums.v1;
const REFUSED = { name: 'PayloadDecryptionError' };

const lab = useBatchLab({ encryptionKeys: [keyOf('a')], encryptionRequired: true, pace: { pollMaxMs: 300 } });
let rogue: Rogue;
beforeAll(() => {
  rogue = rogueAt(lab);
});

type Event = Awaited<ReturnType<Rogue['historyOf']>>[number];

/** The command that ends a run as the event ended another one. */
function copyOf(end: Event | undefined) {
  const completed = end?.workflowExecutionCompletedEventAttributes;
  const failure = end?.workflowExecutionFailedEventAttributes?.failure;
  return completed
    ? {
        commandType: CommandType.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION,
        completeWorkflowExecutionCommandAttributes: { result: completed.result },
      }
    : {
        commandType: CommandType.COMMAND_TYPE_FAIL_WORKFLOW_EXECUTION,
        failWorkflowExecutionCommandAttributes: { failure },
      };
}

const endOf = async (workflowId: string): Promise<Event | undefined> => (await rogue.historyOf(workflowId)).at(-1);

/** Runs `call` while something without the keys ends every run of the id that begins, as the event ended another one. */
async function whileEnding<T>(workflowId: string, end: Event | undefined, call: () => Promise<T>): Promise<T> {
  await lab.stopWorkers();
  const worker = rogue.answerWorkflowTasks((task) =>
    task.workflowExecution?.workflowId === workflowId ? [copyOf(end)] : [],
  );
  try {
    return await call();
  } finally {
    await worker.stop();
    expect(worker.answered).toContain(workflowId);
    await lab.startWorkers({ directories: { batchDir: lab.folder, reportDir: lab.folder } });
  }
}

// Before: the report of the first file, all completed; nothing of the second was paid.
test('the result of the first run of a batch is none of its second', async () => {
  const batchId = newOrderId('batch');
  const [first, second] = [testRows('one', 2), testRows('two', 2)];
  await writeFile(join(lab.folder, 'one.csv'), csvOf(first));
  await writeFile(join(lab.folder, 'two.csv'), csvOf(second));
  const start = (path: string, again?: true) =>
    startBatch(lab.temporal.client, { batchId, file: { path }, startedBy: 'ann', again });
  const one = await start('one.csv');
  expect(await one.result()).toMatchObject({ outcomes: { completed: 2 } });
  const end = await endOf(one.workflowId);
  await whileEnding(one.workflowId, end, async () => {
    const two = await start('two.csv', true);
    await expect(two.result({ timeoutMs: 60_000 })).rejects.toMatchObject(REFUSED);
  });
  expect(executedOf(lab, second)).toBe(0);
});

// Before: "everything agrees".
test('yesterday’s reconciliation is not today’s, and neither is what it was asked', async () => {
  const workflowId = reconcileWorkflowId('default');
  await lab.orders.reconcile();
  const end = await endOf(workflowId);
  await whileEnding(workflowId, end, () => expect(lab.orders.reconcile()).rejects.toMatchObject(REFUSED));
  const [started] = await rogue.historyOf(workflowId);
  expect(started?.workflowExecutionStartedEventAttributes?.workflowType?.name).toBe(RECONCILE_WORKFLOW);
  const { input } = started?.workflowExecutionStartedEventAttributes ?? {};
  const asked = { workflowExecutionCompletedEventAttributes: { result: input } };
  await whileEnding(workflowId, asked as Event, () => expect(lab.orders.reconcile()).rejects.toMatchObject(REFUSED));
});

// Before: told as rejected, and started again while its own run had sent nothing that anybody knew of.
test('an order that a run of before did not make is not said to be absent in the next one', async () => {
  const orderId = newOrderId('absent');
  const input = orderInput('withdraw', orderId, { marker: 'create=400' });
  const first = await lab.orders.start('withdraw', input);
  await expect(first.result()).rejects.toMatchObject({ type: 'OrderRejected' });
  const end = await endOf(first.workflowId);
  await whileEnding(first.workflowId, end, async () => {
    const next = await lab.orders.start('withdraw', input, { again: true });
    await expect(next.result({ timeoutMs: 60_000 })).rejects.toMatchObject(REFUSED);
    await expect(lab.orders.start('withdraw', input, { again: true })).rejects.toMatchObject(REFUSED);
  });
});

test('the resume of an earlier stop resumes no later one', async () => {
  const [workflowId, ann] = ['stop:default', { by: 'Ann Smith', reason: 'the bank called' }];
  const { accounts } = lab.orders;
  await accounts.stop('default', ann);
  await accounts.resume('default', ann);
  await vi.waitFor(async () => expect((await accounts.state('default')).stop).toBeUndefined(), { timeout: 30_000 });
  const [started, end] = [(await rogue.historyOf(workflowId))[0], await endOf(workflowId)];
  await accounts.stop('default', ann);
  await whileEnding(workflowId, end, async () => {
    await rogue.client.workflow.getHandle(workflowId).terminate('rogue');
    await rogue.startAgain(workflowId, started ? [started] : []);
    const status = async () => (await rogue.client.workflow.getHandle(workflowId).describe()).status.name;
    await vi.waitFor(async () => expect(await status()).toBe('COMPLETED'), { timeout: 60_000 });
  });
  expect((await accounts.state('default')).stop).toMatchObject(ann);
  await accounts.resume('default', ann);
});

test('an order’s own end is read as before, also after a reset', async () => {
  const order = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('own')));
  expect(await order.result()).toMatchObject({ outcome: 'completed' });
  const { namespace } = lab.temporal;
  const { workflowId } = order;
  const events = await rogue.historyOf(workflowId);
  const reset = events.filter(({ workflowTaskCompletedEventAttributes: task }) => task).at(-1);
  await lab.temporal.client.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId },
    workflowTaskFinishEventId: reset?.eventId,
    requestId: 'reset-once',
    reason: 'test',
  });
  expect(await order.result()).toMatchObject({ outcome: 'completed' });
});
