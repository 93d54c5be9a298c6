import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { ORDERS_TASK_QUEUE } from '../../../src/contract/names.js';
import { HOUR_MS, MINUTE_MS, useGatedLab } from '../../support/gated-lab.js';
import { orderInput } from '../../support/inputs.js';

const lab = useGatedLab();

/** Ends the poll that is under way for good, as an operator can. */
async function failPoll(workflowId: string): Promise<void> {
  const { client } = lab.orders;
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  const poll = raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'pollOrder');
  await client.workflowService.respondActivityTaskFailedById({
    namespace: client.options.namespace,
    workflowId,
    activityId: poll?.activityId,
    failure: { message: 'failed by an operator', applicationFailureInfo: { type: 'Operator', nonRetryable: true } },
  });
}

test('what goes wrong in the background while a person is asked does not take the question away', async () => {
  const orderId = 'asked';
  const followUpId = `${orderId}.r1`;
  // A run of that id was here before, and came to no order: the follow-up is looked for and never found.
  const earlier = { ...orderInput('withdraw', followUpId), compensation: 'report' as const };
  await lab.orders.client.workflow.start('withdraw', {
    taskQueue: ORDERS_TASK_QUEUE,
    workflowId: `order:default:${followUpId}`,
    args: [earlier],
  });
  const marker = 'outcome=completed_partially fraction=0.4';
  const handle = await lab.orders.start(
    'withdraw',
    orderInput('withdraw', orderId, { marker, compensation: 'finish' }),
  );
  await lab.skipUntil(async () => (await lab.state(orderId)).phase === 'parked', 5 * MINUTE_MS, 3 * HOUR_MS);
  const asked = await lab.state(orderId);
  expect(asked.attention).toMatchObject({ allowed: ['accept'], reason: expect.stringContaining('was started before') });

  let answerPoll: () => void = () => undefined;
  const polled = new Promise<void>((reached) => {
    lab.gate.rule = ({ path, orderId: about }) => {
      if (about !== followUpId || !path.endsWith('/status')) return undefined;
      reached();
      return new Promise((resolve) => {
        answerPoll = () => resolve({ status: 500 });
      });
    };
  });
  const skipping = lab.skip(10 * MINUTE_MS);
  await polled;
  await failPoll(handle.workflowId);
  lab.gate.rule = () => undefined;
  answerPoll();
  await skipping;
  expect((await lab.history(orderId)).scheduled('pollOrder').length).toBeGreaterThan(2);
  expect(await lab.state(orderId)).toEqual(asked);

  await handle.decide({ action: 'accept', by: 'ann', reason: `ticket ${randomUUID()}`, revision: asked.revision });
  expect((await lab.result(handle, HOUR_MS)).compensation).toMatchObject({ status: 'failed' });
});

test('a follow-up of another run is stopped, if it has not sent, by accepting without it', async () => {
  const orderId = 'accepted-without';
  const followUpId = `${orderId}.r1`;
  // Open, and nothing is known of its order.
  const { order } = orderInput('withdraw', followUpId);
  const other = await lab.orders.client.workflow.start('withdraw', {
    taskQueue: ORDERS_TASK_QUEUE,
    workflowId: `order:default:${followUpId}`,
    args: [{ order, compensation: 'report', recovered: { order_uuid: randomUUID() } }],
  });
  const marker = 'outcome=completed_partially fraction=0.4';
  const input = orderInput('withdraw', orderId, { marker, compensation: 'finish' });
  const handle = await lab.orders.start('withdraw', input);
  await lab.skipUntil(async () => (await lab.state(orderId)).phase === 'parked', 5 * MINUTE_MS, 3 * HOUR_MS);
  const { revision } = await lab.state(orderId);
  await handle.decide({ action: 'accept', by: 'ann', reason: 'paid by hand', revision });
  expect((await lab.result(handle, HOUR_MS)).compensation).toMatchObject({ status: 'failed' });
  const { events } = await other.fetchHistory();
  expect(events?.filter((event) => event.workflowExecutionCancelRequestedEventAttributes)).toHaveLength(1);
});
