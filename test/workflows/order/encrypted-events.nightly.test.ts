import { createSecretKey, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { deliveryWorkflowId, ORDERS_TASK_QUEUE } from '../../../src/contract/names.js';
import { startEventReceiver } from '../../support/event-receiver.js';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../../support/lab.js';

const encryptionKeys = [{ id: 'k1', key: createSecretKey(randomBytes(32)) }];

let shop: Awaited<ReturnType<typeof startEventReceiver>>;
let lab: Lab;

beforeAll(async () => {
  shop = await startEventReceiver('shop');
  lab = await openLab({ encryptionKeys, encryptionRequired: true, receivers: [shop.config] });
});
afterAll(async () => {
  await lab.close();
  await shop.close();
});

test('with PAYLOAD_ENCRYPTION=required events arrive, and nobody without the keys can have one signed', async () => {
  const orderId = newOrderId('encrypted');
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId));
  await handle.result();
  const kinds = () => shop.received.map(({ event }) => event.type);
  await vi.waitFor(() => expect(kinds()).toEqual(['order.created', 'order.final', 'order.ended']), 30_000);
  const { Client, Connection } = await import('@temporalio/client');
  const plain = new Client({
    connection: await Connection.connect({ address: lab.temporal.address }),
    namespace: lab.temporal.namespace,
  });
  const event = shop.received[0]?.event;
  const forged = await plain.workflow.start('deliverEvents', {
    workflowId: deliveryWorkflowId('forged'),
    taskQueue: ORDERS_TASK_QUEUE,
    args: [{ receivers: [{ name: 'shop' }], events: [{ ...event, type: 'order.ended' }] }],
  });
  // Its failure is encrypted.
  await expect(forged.result()).rejects.toThrow();
  expect(kinds()).toHaveLength(3);
});
