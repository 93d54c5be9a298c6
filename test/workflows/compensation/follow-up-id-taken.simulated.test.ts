import { afterAll, beforeAll, expect, test } from 'vitest';
import { ORDERS_TASK_QUEUE, orderWorkflowId } from '../../../src/contract/names.js';
import { sendByHand } from '../../activities/order/by-hand.fixture.js';
import { type GatedLab, HOUR_MS, MINUTE_MS, openGatedLab, SECOND_MS } from '../../support/gated-lab.js';
import { orderInput } from '../../support/inputs.js';

let lab: GatedLab;
beforeAll(async () => {
  lab = await openGatedLab();
});
afterAll(() => lab?.close());

/** A run that has the id of a follow-up, and came to nothing: started by hand, or by a run of the order before it was reset. */
async function takeId(orderId: string): Promise<void> {
  const workflowId = orderWorkflowId('default', orderId);
  const handle = await lab.orders.client.workflow.start('withdraw', {
    taskQueue: ORDERS_TASK_QUEUE,
    workflowId,
    args: [orderInput('withdraw', orderId)],
  });
  const isOpen = async () => (await handle.describe()).status.name === 'RUNNING';
  await lab.skipUntil(async () => !(await isOpen()), SECOND_MS, MINUTE_MS);
}

test('a follow-up whose id is taken is accepted as it is, and what another one paid meanwhile is not told as left', async () => {
  const orderId = 'id-taken';
  await takeId(`${orderId}.r1`);
  const marker = 'outcome=completed_partially fraction=0.4';
  const handle = await lab.orders.start(
    'withdraw',
    orderInput('withdraw', orderId, { marker, compensation: 'finish' }),
  );
  const isParked = async () => (await lab.state(orderId)).phase === 'parked';
  await lab.skipUntil(isParked, MINUTE_MS, HOUR_MS);
  const { attention, revision } = await lab.state(orderId);
  expect(attention?.reason).toContain(`${orderId}.r1 was started before`);
  const { order } = orderInput('withdraw', `${orderId}.r2`);
  await sendByHand(lab.sandbox, { ...order, amount: '5' });
  await handle.decide({ action: 'accept', by: 'ann', reason: 'as agreed', revision });
  const { remainder, remainderUnknown, compensation } = await lab.result(handle, HOUR_MS);
  expect({ remainder, remainderUnknown }).toEqual({ remainderUnknown: expect.stringContaining(`${orderId}.r2`) });
  expect(compensation).toMatchObject({ status: 'failed', order_id: `${orderId}.r1` });
  expect(lab.gate.about(`${orderId}.r1`, 'create')).toEqual([]);
});
