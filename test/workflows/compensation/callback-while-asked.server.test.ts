import { expect, test, vi } from 'vitest';
import { afterEndWorkflowId, ORDER_CALLBACK_SIGNAL } from '../../../src/contract/names.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';
import { type GateRule, listAnswer, operationOf } from '../../support/service-gate.js';
import { decideNow, parkedFor } from './parked-orders.fixture.js';

let isWrong = true;
/** Holds the next look-up until then. */
let held: Promise<void> | undefined;

/** The service takes a payout for failed until the bank confirms it. */
const failed: GateRule = async ({ path, body, orderId }) => {
  const operation = operationOf(path);
  if (!isWrong || (operation !== 'status' && operation !== 'list')) return undefined;
  const [shown] = lab.sandbox
    .orders()
    .filter(({ order }) => order.user_order_id === orderId || body.includes(order.order_uuid));
  if (!shown) return undefined;
  const nothing = { amount_to: null, amount_to_fee: null, blockchain_withdrawal_hash: null };
  const data = { ...shown.order, ...nothing, status: 'error' };
  if (operation === 'list') return listAnswer(body, [{ ...data, balance_changes: [] }]);
  await held;
  return { status: 200, body: JSON.stringify({ status: 'success', data }) };
};
const lab = useGatedLab((request) => failed(request), { callbacks: false });

test('a callback that comes while an accepted order is read is looked into after the end', async () => {
  const orderId = newOrderId('flipped');
  const handle = await lab.orders.start('withdraw', {
    ...orderInput('withdraw', orderId, { marker: 'pay_ms=20 after_ms=20' }),
    compensation: 'finish',
  });
  await parkedFor(handle, '');
  const { client } = lab.temporal;
  let release = () => {};
  held = new Promise((resolve) => {
    release = resolve;
  });
  const isRead = () => lab.gate.about(orderId, 'status').some(({ status }) => status === 0);
  await decideNow(handle, 'accept');
  await vi.waitUntil(isRead, { timeout: 20_000, interval: 20 });
  await client.workflow.getHandle(handle.workflowId).signal(ORDER_CALLBACK_SIGNAL, {});
  release();
  await handle.result();
  isWrong = false;
  expect((await handle.result()).outcome).toBe('error');
  const after = client.workflow.getHandle(afterEndWorkflowId(handle.workflowId));
  const told = async () => (await after.describe()).searchAttributes.PaymentAttentionReason;
  await vi.waitFor(async () => expect(await told()).toEqual(['changed-after-end']), { timeout: 60_000, interval: 200 });
});
