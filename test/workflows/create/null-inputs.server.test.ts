import { describe, expect, test } from 'vitest';
import { ORDERS_TASK_QUEUE, orderWorkflowId } from '../../../src/contract/names.js';
import { ORDER_TYPES, workflowTypeOf } from '../../../src/contract/order/types.js';
import { optionSchemas } from '../../../src/validation/input-schemas.js';
import { orderSchemas } from '../../../src/validation/request-schemas.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';

const lab = useLab();

const nulls = (schemas: object) => Object.fromEntries(Object.keys(schemas).map((key) => [key, null]));

describe('started from anywhere, with null for everything that it may lack', () => {
  test.concurrent.each(ORDER_TYPES)('%s completes, and its own start attaches', async (type) => {
    const orderId = newOrderId(type.replaceAll('_', '-'));
    const plain = orderInput(type, orderId);
    const order = { ...nulls(orderSchemas[type].shape), ...plain.order };
    const handle = await lab.orders.client.workflow.start(workflowTypeOf(type), {
      taskQueue: ORDERS_TASK_QUEUE,
      workflowId: orderWorkflowId('default', orderId),
      args: [{ ...nulls(optionSchemas), order }],
    });
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    expect(await (await lab.orders.start(type, plain)).result()).toMatchObject({ outcome: 'completed' });
    expect(lab.sandbox.stats().createsByOrderId[orderId]).toBe(1);
  });
});

test('a decision takes null for what its action does not take', async () => {
  const orderId = newOrderId('decided');
  const marker = 'create=500-before times=all';
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker, resend: 'never' }));
  await expect
    .poll(async () => (await handle.state()).attention?.allowed, { timeout: 60_000 })
    .toContain('close-absent');
  const decision = { action: 'close-absent' as const, by: 'ann', reason: 'not wanted', order_uuid: null, kind: null };
  await handle.decide({ ...decision, revision: (await handle.state()).revision } as never);
  await expect(handle.result()).rejects.toMatchObject({ type: 'OrderAbsent' });
});
