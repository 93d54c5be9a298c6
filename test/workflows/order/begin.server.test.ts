import { WithStartWorkflowOperation } from '@temporalio/client';
import { expect, test } from 'vitest';
import { orderStartOptions } from '../../../src/client/start-options.js';
import { BEGIN_UPDATE } from '../../../src/contract/names.js';
import type { OrderInput } from '../../../src/contract/order/input-and-result.js';
import type { OrderState } from '../../../src/contract/order/messages.js';
import { type OrderType, workflowTypeOf } from '../../../src/contract/order/types.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';

const lab = useLab();

/** Starts as clients of other languages do: the update compares, whatever the policies of the start. */
function begin(input: OrderInput, type: OrderType = 'withdraw', sent: unknown[] = [type, input]): Promise<OrderState> {
  const options = { ...orderStartOptions(type, input), workflowIdConflictPolicy: 'USE_EXISTING' } as const;
  const startWorkflowOperation = new WithStartWorkflowOperation(workflowTypeOf(type), options);
  const args = sent as [OrderType, OrderInput];
  return lab.temporal.client.workflow.executeUpdateWithStart(BEGIN_UPDATE, { args, startWorkflowOperation });
}

/** Is final once a test says so, however long its questions take. */
const OPEN = 'callback=drop after_ms=600000';

const changed = (input: OrderInput, changes: object): OrderInput =>
  ({ ...input, order: { ...input.order, ...changes } }) as OrderInput;

test('begin starts an order, attaches to the same one, and refuses another input by its fields', async () => {
  const orderId = newOrderId('begin');
  const input = orderInput('withdraw', orderId, { marker: OPEN });
  expect(await begin(input)).toMatchObject({ phase: 'creating' });
  const order = await lab.orders.order(orderId).created();
  expect(await begin(changed(input, { amount: '12.5' }))).toMatchObject({ order: { order_uuid: order.order_uuid } });

  const conflict = (fields: string[]) => ({ cause: { type: 'OrderConflict', details: [fields] } });
  await expect(begin(changed(input, { amount: '99' }))).rejects.toMatchObject(conflict(['order.amount']));
  await expect(begin(changed(input, { wallet: '5555555555554444' }))).rejects.toMatchObject(conflict(['order.wallet']));
  await expect(begin({ ...input, compensation: 'ask' })).rejects.toMatchObject(conflict(['compensation']));
  await expect(begin(input, 'withdraw', ['deposit', input])).rejects.toMatchObject(conflict(['order_type']));

  lab.sandbox.finishAll();
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

/* The order runs although its own `begin` is refused: Temporal starts it all the same. */
const OWN_INPUT = 'The order of this id has its own input and may be paid. Read its state before any other start';

test('a begin that is refused at its own start claims nothing of money, and the order is paid once', async () => {
  const input = orderInput('exchange_withdraw', newOrderId('begin-name'), { marker: OPEN });
  const other = changed(input, { description: 'another text' });
  const refused: [sent: unknown[], cause: object][] = [
    // The workflow's name in place of the type.
    [['exchangeWithdraw', input], { type: 'InvalidInput', details: [[{ field: 'order_type' }]] }],
    [['exchange_withdraw', null], { type: 'InvalidInput', details: [[{ field: 'input' }]] }],
    [['exchange_withdraw', 'text'], { type: 'InvalidInput', details: [[{ field: 'input' }]] }],
    [['exchange_withdraw', {}], { type: 'InvalidInput', details: [[{ field: 'order' }]] }],
    [['exchange_withdraw', other], { type: 'OrderConflict', details: [['order.description']] }],
    [['withdraw', input], { type: 'OrderConflict' }],
    [[], { type: 'InvalidInput', details: [[{ field: 'order_type' }]] }],
  ];
  for (const [sent, cause] of refused) {
    const { cause: failure } = await begin(input, 'exchange_withdraw', sent).catch((error) => error);
    expect(failure).toMatchObject(cause);
    expect(failure.message).toContain(OWN_INPUT);
    expect(failure.message).not.toMatch(/Nothing was sent|own id/);
  }
  const { order_id: orderId } = input.order;
  lab.sandbox.finishAll();
  expect(await lab.orders.order(orderId).result()).toMatchObject({ outcome: 'completed' });
  expect(lab.requestsOf(orderId).filter((path) => path.endsWith('/exchange_withdraw'))).toHaveLength(1);
  const ended = lab.temporal.client.workflow.getHandle(`order:default:${orderId}`);
  await expect(ended.query(BEGIN_UPDATE, 'exchangeWithdraw', input)).rejects.toThrow(/order_type: must be one of/);
  await expect(ended.query(BEGIN_UPDATE, 'exchange_withdraw', null)).rejects.toThrow(/input: must be an object/);
});
