import { WithStartWorkflowOperation } from '@temporalio/client';
import { expect, test } from 'vitest';
import { orderStartOptions } from '../../../src/client/start-options.js';
import { BEGIN_UPDATE } from '../../../src/contract/names.js';
import type { OrderInput } from '../../../src/contract/order/input-and-result.js';
import type { OrderState } from '../../../src/contract/order/messages.js';
import type { OrderType } from '../../../src/contract/order/types.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';

const lab = useLab();

/** Starts as clients of other languages do: the update compares, whatever the policies of the start. */
function begin(input: OrderInput, type: OrderType = 'withdraw'): Promise<OrderState> {
  const options = { ...orderStartOptions(type, input), workflowIdConflictPolicy: 'USE_EXISTING' } as const;
  const startWorkflowOperation = new WithStartWorkflowOperation(type, options);
  const args = [type, input] as [OrderType, OrderInput];
  return lab.temporal.client.workflow.executeUpdateWithStart(BEGIN_UPDATE, { args, startWorkflowOperation });
}

const changed = (input: OrderInput, changes: object): OrderInput =>
  ({ ...input, order: { ...input.order, ...changes } }) as OrderInput;

test('begin starts an order, attaches to the same one, and refuses another input by its fields', async () => {
  const orderId = newOrderId('begin');
  const input = orderInput('withdraw', orderId, { marker: 'callback=drop after_ms=4000' });
  expect(await begin(input)).toMatchObject({ phase: 'creating' });
  const order = await lab.orders.order(orderId).created();
  expect(await begin(changed(input, { amount: '12.5' }))).toMatchObject({ order: { order_uuid: order.order_uuid } });

  const conflict = (fields: string[]) => ({ cause: { type: 'OrderConflict', details: [fields] } });
  await expect(begin(changed(input, { amount: '99' }))).rejects.toMatchObject(conflict(['order.amount']));
  await expect(begin(changed(input, { wallet: '5555555555554444' }))).rejects.toMatchObject(conflict(['order.wallet']));
  await expect(begin({ ...input, compensation: 'ask' })).rejects.toMatchObject(conflict(['compensation']));
  await expect(begin(input, 'deposit')).rejects.toMatchObject(conflict(['order_type']));

  expect(await lab.orders.order(orderId).result()).toMatchObject({ outcome: 'completed' });
  // It has ended: Temporal refuses the start, and the query of the same name compares.
  await expect(begin(changed(input, { amount: '99' }))).rejects.toMatchObject({
    name: 'WorkflowExecutionAlreadyStartedError',
  });
  const differing = (asked: OrderInput) =>
    lab.temporal.client.workflow.getHandle(`order:default:${orderId}`).query(BEGIN_UPDATE, 'withdraw', asked);
  expect(await differing(changed(input, { amount: '99' }))).toEqual(['order.amount']);
  expect(await differing(input)).toEqual([]);
});
