import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { listRuns } from '../../../src/client/pages.js';
import { lookUpAfterEnd } from '../../../src/client/start-options.js';
import { afterEndWorkflowId, orderWorkflowId, searchAttribute } from '../../../src/contract/names.js';
import { workflowTypeOf } from '../../../src/contract/order/types.js';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../../support/lab.js';
import { type GateRule, openGate } from '../../support/service-gate.js';
import { activitiesFor, attemptOf, openActivities } from '../activity-lab.fixture.js';

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

/** An order in doubt, and one that the service accepted later. `lookUp`: as the run of that id. */
async function inDoubt(label: string, rule: GateRule = () => undefined) {
  const { client } = lab.temporal;
  const { sandbox } = await openActivities({}, { pace: PACE_OF_A_SECOND });
  const gate = await openGate(sandbox.url, rule);
  onTestFinished(() => gate.shut());
  const { apiKey, apiSecret } = sandbox;
  const run = await activitiesFor({ baseUrl: gate.url, apiKey, apiSecret }, { pace: PACE_OF_A_SECOND });
  const orderId = newOrderId(label);
  const { order: request } = orderInput('withdraw', orderId);
  const sentUntilMs = Date.now();
  await sleep(500);
  const later = newOrderId('later');
  await run('createOrder', attemptOf('withdraw', orderInput('withdraw', later)));
  await sleep(1_100);
  const uuidOfLater = sandbox.orders().find(({ order }) => order.user_order_id === later)?.order.order_uuid ?? '';
  const workflowId = orderWorkflowId('default', orderId);
  const lookUp = (runId: string) => {
    const input = { type: 'withdraw', account: 'default', request, sentUntilMs, asksOtherRuns: true } as const;
    return run('lookUpOrder', input, { client, workflowId, runId, scheduledMs: Date.now() });
  };
  const callBack = (uuid: string) => lookUpAfterEnd(client, workflowId, { order_uuid: uuid });
  return { client, workflowId, lookUp, callBack, uuidOfLater };
}

const NAMED = '0f3a1c7e-0000-4000-8000-000000000001';

test('while an order that the service named for another run is not shown, no later order confirms absence', async () => {
  const { client, workflowId, lookUp } = await inDoubt('named');
  const first = await start(client, workflowId, NAMED);
  await first.terminate();
  const second = await start(client, workflowId);
  expect(await lookUp(second.firstExecutionRunId)).toMatchObject({ kind: 'absent', control: { whole: false } });
  expect(await lookUp(second.firstExecutionRunId)).not.toHaveProperty('control.later');
  expect(await lookUp(first.firstExecutionRunId)).toMatchObject({ control: { whole: true, later: true } });
});

test('so it is however many callbacks came since', async () => {
  const { client, workflowId, lookUp, callBack } = await inDoubt('flooded');
  await (await start(client, workflowId, NAMED)).terminate();
  for (let n = 0; n < 25; n += 1) {
    await callBack(`0f3a1c7e-0000-4000-8000-1000000000${10 + n}`);
    await client.workflow.getHandle(afterEndWorkflowId(workflowId)).terminate();
  }
  const own = await start(client, workflowId);
  await sleep(1_000);
  expect(await lookUp(own.firstExecutionRunId)).toMatchObject({ control: { whole: false }, calledBack: true });
});

test('an order that only a callback named is ours if it has our id; what the service refuses to show is none', async () => {
  const rule: GateRule = ({ path, body }) =>
    path.endsWith('/status') && body.includes('"order_uuid":"x"') ? { status: 500, body: 'oops' } : undefined;
  const { client, workflowId, lookUp, callBack, uuidOfLater } = await inDoubt('called', rule);
  for (const uuid of [uuidOfLater, 'x']) {
    await callBack(uuid);
    await client.workflow.getHandle(afterEndWorkflowId(workflowId)).terminate();
  }
  const own = await start(client, workflowId);
  await sleep(1_000);
  expect(await lookUp(own.firstExecutionRunId)).toMatchObject({
    kind: 'absent',
    control: { whole: true },
    calledBack: true,
  });
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
