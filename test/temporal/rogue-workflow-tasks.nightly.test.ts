import type { Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import { expect, test, vi } from 'vitest';
import { createTaskQueue, ORDER_CALLBACK_SIGNAL, ORDER_STATE_QUERY } from '../../src/contract/names.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { type AnswerWorkflowTask, plain, rogueAt } from './rogue.fixture.js';
import { keyOf } from './stored-bytes.fixture.js';

vi.setConfig({ testTimeout: 150_000 });

const { CommandType } = proto.temporal.api.enums.v1;

const lab = useLab({ encryptionKeys: [keyOf('a')], encryptionRequired: true, workers: false });

const complete = (result: Payload): ReturnType<AnswerWorkflowTask> => [
  {
    commandType: CommandType.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION,
    completeWorkflowExecutionCommandAttributes: { result: { payloads: [result] } },
  },
];

/** An order whose first workflow task something without the keys answers. */
async function answered(label: string, command: AnswerWorkflowTask) {
  const order = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId(label)));
  const worker = rogueAt(lab).answerWorkflowTasks(command);
  await vi.waitUntil(() => worker.answered.length > 0, { timeout: 30_000 });
  await worker.stop();
  return order;
}

const PARKED = { marker: 'create=500-before', resend: 'never' } as const;
const REFUSED = { name: 'PayloadDecryptionError' };

test('a result, an end without an order and a create of theirs are reported by nobody and sent by nobody', async () => {
  const paid = await answered('completed', () =>
    complete(plain({ outcome: 'completed', order: { status: 'completed' } })),
  );
  await expect(paid.result()).rejects.toMatchObject(REFUSED);

  const failure = { message: 'no', applicationFailureInfo: { type: 'OrderAbsent', nonRetryable: true } };
  const absent = await answered('absent', () => [
    {
      commandType: CommandType.COMMAND_TYPE_FAIL_WORKFLOW_EXECUTION,
      failWorkflowExecutionCommandAttributes: { failure },
    },
  ]);
  await expect(absent.result()).rejects.toMatchObject(REFUSED);
  const again = lab.orders.start('withdraw', orderInput('withdraw', absent.orderId), { again: true });
  await expect(again).rejects.toMatchObject(REFUSED);

  const input = { type: 'withdraw', account: 'default', input: orderInput('withdraw', 'x'), permission: 'first' };
  const scheduled = await answered('scheduled', () => [
    {
      commandType: CommandType.COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK,
      scheduleActivityTaskCommandAttributes: {
        activityId: '1',
        activityType: { name: 'createOrder' },
        taskQueue: { name: createTaskQueue('default') },
        input: { payloads: [plain({ ...input, firstExecutionRunId: 'x', followUp: false })] },
        startToCloseTimeout: { seconds: 60 as never },
        retryPolicy: { maximumAttempts: 1 },
      },
    },
  ]);
  await lab.startWorkers();
  const failed = async () => {
    const events = await rogueAt(lab).historyOf(scheduled.workflowId);
    return events.some((event) => event.activityTaskFailedEventAttributes);
  };
  await vi.waitUntil(failed, { timeout: 60_000, interval: 100 });
  expect(lab.sandbox.requests().filter(({ path }) => path.endsWith('/order/withdraw'))).toEqual([]);

  // What one of our workers answered to one workflow says nothing about another.
  const done = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('done')));
  await done.result();
  await lab.stopWorkers();
  const events = await rogueAt(lab).historyOf(done.workflowId);
  const [result] = events.at(-1)?.workflowExecutionCompletedEventAttributes?.result?.payloads ?? [];
  const copied = await answered('copied', () => complete(result as Payload));
  await expect(copied.result()).rejects.toMatchObject(REFUSED);

  // Nor is what it told itself, such as its state, its end.
  await lab.startWorkers();
  const open = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('open'), PARKED));
  await vi.waitUntil(async () => (await open.state()).phase === 'parked', { timeout: 60_000, interval: 100 });
  const { namespace } = lab.temporal;
  const { client } = rogueAt(lab);
  const { queryResult } = await client.workflowService.queryWorkflow({
    namespace,
    execution: { workflowId: open.workflowId },
    query: { queryType: ORDER_STATE_QUERY },
  });
  await lab.stopWorkers();
  const worker = rogueAt(lab).answerWorkflowTasks(() => complete(queryResult?.payloads?.[0] as Payload));
  await client.workflow.getHandle(open.workflowId).signal(ORDER_CALLBACK_SIGNAL);
  await expect(open.result({ timeoutMs: 60_000 })).rejects.toMatchObject(REFUSED);
  await worker.stop();
});
