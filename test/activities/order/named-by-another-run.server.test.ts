import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listRuns } from '../../../src/client/pages.js';
import { afterEndWorkflowId, orderWorkflowId, searchAttribute } from '../../../src/contract/names.js';
import { workflowTypeOf } from '../../../src/contract/order/types.js';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../../support/lab.js';
import { attemptOf, openActivities } from '../activity-lab.fixture.js';

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ workers: false });
});
afterAll(() => lab.close());

const start = (client: Client, workflowId: string, uuid?: string) =>
  client.workflow.start(workflowTypeOf('withdraw'), {
    workflowId,
    taskQueue: 'nobody',
    args: [],
    typedSearchAttributes: uuid ? [{ key: searchAttribute.orderUuid, value: uuid }] : [],
  });

test('while an order that the service named for another run is not shown, no later order confirms absence', async () => {
  const { client } = lab.temporal;
  const { run } = await openActivities({}, { pace: PACE_OF_A_SECOND });
  const orderId = newOrderId('named');
  const { order: request } = orderInput('withdraw', orderId);
  const sentUntilMs = Date.now();
  await new Promise((resolve) => setTimeout(resolve, 500));
  // The later order.
  await run('createOrder', attemptOf('withdraw', orderInput('withdraw', newOrderId('later'))));
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const workflowId = orderWorkflowId('default', orderId);
  const lookUp = async (runId: string) => {
    const input = { type: 'withdraw', account: 'default', request, sentUntilMs, asksOtherRuns: true } as const;
    return run('lookUpOrder', input, { client, workflowId, runId, scheduledMs: Date.now() });
  };
  const first = await start(client, workflowId, '0f3a1c7e-0000-4000-8000-000000000001');
  await first.terminate();
  const second = await start(client, workflowId);
  expect(await lookUp(second.firstExecutionRunId)).toMatchObject({ kind: 'absent', control: { whole: false } });
  expect(await lookUp(second.firstExecutionRunId)).not.toHaveProperty('control.later');
  expect(await lookUp(first.firstExecutionRunId)).toMatchObject({ control: { whole: true, later: true } });
});

test('a run with a memo that nobody can read hides no run that the list shows after it', async () => {
  const { client } = lab.temporal;
  const workflowId = orderWorkflowId('default', newOrderId('unreadable'));
  const before = await start(client, workflowId, '0f3a1c7e-0000-4000-8000-000000000002');
  await before.terminate();
  await client.workflowService.signalWithStartWorkflowExecution({
    namespace: lab.temporal.namespace,
    workflowId: afterEndWorkflowId(workflowId),
    workflowType: { name: 'orderAfterEnd' },
    taskQueue: { name: 'nobody' },
    requestId: workflowId,
    signalName: 'orderCallback',
    memo: {
      fields: { note: { metadata: { encoding: Buffer.from('binary/of-a-foreigner') }, data: Buffer.from('?') } },
    },
  });
  const query = `WorkflowId IN ('${workflowId}', '${afterEndWorkflowId(workflowId)}')`;
  await expect(client.workflow.list({ query })[Symbol.asyncIterator]().next()).rejects.toThrow(/encoding/);
  const { runs } = await listRuns(client, { query, pageSize: 10 });
  expect(runs.map((run) => run.workflowId).sort()).toEqual([afterEndWorkflowId(workflowId), workflowId]);
});

const PACE_OF_A_SECOND = {
  pollInitialMs: 5_000,
  pollMaxMs: 300_000,
  settleWindowMs: { atOnce: 1_000, deposit: 1_000 },
  confirmDelayMs: 1_000,
};
