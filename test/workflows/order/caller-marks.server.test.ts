import { WithStartWorkflowOperation } from '@temporalio/client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { orderStartOptions } from '../../../src/client/start-options.js';
import { BEGIN_UPDATE, ORDERS_TASK_QUEUE, orderWorkflowId } from '../../../src/contract/names.js';
import type { OrderInput } from '../../../src/index.js';
import { startEventReceiver } from '../../support/event-receiver.js';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../../support/lab.js';
import { openGate, type ServiceGate } from '../../support/service-gate.js';

let shop: Awaited<ReturnType<typeof startEventReceiver>>;
let gate: ServiceGate;
let lab: Lab;
beforeAll(async () => {
  shop = await startEventReceiver('shop');
  lab = await openLab({
    callbacks: false,
    receivers: [shop.config],
    serviceUrl: async (url) => {
      gate = await openGate(url);
      return gate.url;
    },
  });
});
afterAll(async () => {
  await lab?.close();
  await Promise.all([gate?.shut(), shop?.close()]);
});

const metadata = { tenant: 'north', 'cost-center': 'Køln 7' };

const eventsOf = (orderId: string) => shop.received.filter(({ event }) => event.data.order_id === orderId);

const startedAttributes = async (orderId: string) => {
  const { events } = await lab.temporal.client.workflow.getHandle(orderWorkflowId('default', orderId)).fetchHistory();
  return Object.keys(events?.[0]?.workflowExecutionStartedEventAttributes?.searchAttributes?.indexedFields ?? {});
};

test('both come back in state, result, list and events, follow-ups have them, and the service gets neither', async () => {
  const orderId = newOrderId('marks');
  const marks = { reference: `inv/${orderId}#1`, metadata };
  const marker = 'outcome=completed_partially fraction=0.5';
  const input = orderInput('withdraw', orderId, { marker, compensation: 'finish', ...marks });
  const handle = await lab.orders.start('withdraw', input);
  await handle.created();
  expect(await handle.state()).toMatchObject(marks);
  expect(await handle.result()).toMatchObject({ outcome: 'completed_partially', ...marks });
  expect(await lab.orders.order(`${orderId}.r1`).result()).toMatchObject({ outcome: 'completed', ...marks });

  const byId = (a: { orderId: string }, b: { orderId: string }) => (a.orderId < b.orderId ? -1 : 1);
  const listed = async () => (await lab.orders.list({ reference: marks.reference })).orders.toSorted(byId);
  await expect.poll(async () => (await listed()).length, { timeout: 60_000 }).toBe(2);
  expect(await listed()).toMatchObject(
    [orderId, `${orderId}.r1`].map((id) => ({ orderId: id, reference: marks.reference })),
  );
  expect(await lab.orders.list({ reference: 'inv' })).toEqual({ orders: [] });

  const described = await lab.temporal.client.workflow
    .getHandle(handle.workflowId)
    .query('__temporal_workflow_metadata');
  expect(JSON.stringify(described)).toContain(`**Reference**: \`${marks.reference}\``);

  await vi.waitFor(() => expect(eventsOf(`${orderId}.r1`)).toHaveLength(3), 30_000);
  const told = [...eventsOf(orderId), ...eventsOf(`${orderId}.r1`)];
  expect(told.map(({ event: { data } }) => [data.reference, data.metadata])).toEqual(
    told.map(() => [marks.reference, metadata]),
  );

  // The order was executed, and no byte of either reached the service.
  expect(gate.about(orderId, 'create')).toHaveLength(1);
  const sent = gate.requests.map(({ path, body }) => path + body).join();
  expect(sent).toContain(orderId);
  for (const word of ['reference', 'metadata', 'inv/', 'tenant', 'north', 'Køln']) expect(sent).not.toContain(word);
});

/** Starts as clients of other languages do. */
function begin(input: OrderInput): Promise<unknown> {
  const options = { ...orderStartOptions('withdraw', input), workflowIdConflictPolicy: 'USE_EXISTING' } as const;
  const startWorkflowOperation = new WithStartWorkflowOperation('withdraw', options);
  return lab.temporal.client.workflow.executeUpdateWithStart(BEGIN_UPDATE, {
    args: ['withdraw', input],
    startWorkflowOperation,
  });
}

test('another reference or metadata under the same id is a conflict that names it', async () => {
  const orderId = newOrderId('marks-conflict');
  const input = orderInput('withdraw', orderId, { reference: 'r-1', metadata, marker: 'after_ms=4000' });
  await lab.orders.start('withdraw', input);
  expect((await lab.orders.start('withdraw', input)).attached).toBe(true);
  const other = { ...input, reference: 'r-2', metadata: { ...metadata, tenant: 'south' } };
  const { metadata: _, ...without } = input;
  const fields = ['reference', 'metadata.tenant'];
  await expect(lab.orders.start('withdraw', other)).rejects.toMatchObject({ kind: 'conflict', fields });
  await expect(lab.orders.start('withdraw', without)).rejects.toMatchObject({ fields: ['metadata'] });
  await expect(begin(other)).rejects.toMatchObject({ cause: { type: 'OrderConflict', details: [fields] } });
  await begin(input);
  expect(await lab.orders.order(orderId).result()).toMatchObject({ outcome: 'completed', reference: 'r-1', metadata });
  expect(lab.sandbox.stats().executedByOrderId[orderId]).toBe(1);
});

test('an order without either starts, ends and reports as before', async () => {
  const orderId = newOrderId('no-marks');
  const result = await (await lab.orders.start('withdraw', orderInput('withdraw', orderId))).result();
  expect(Object.keys(result)).not.toEqual(expect.arrayContaining(['reference']));
  expect(Object.keys(result)).not.toEqual(expect.arrayContaining(['metadata']));
  expect(await startedAttributes(orderId)).not.toContain('PaymentReference');
  await vi.waitFor(() => expect(eventsOf(orderId)).toHaveLength(3), 30_000);
  for (const { body } of eventsOf(orderId)) expect(body).not.toMatch(/reference|metadata/);
});

/** Starts as the Temporal UI does: without search attributes, unchecked. */
const rawStart = (orderId: string, input: object) =>
  lab.temporal.client.workflow.start('withdraw', {
    args: [input],
    workflowId: orderWorkflowId('default', orderId),
    taskQueue: ORDERS_TASK_QUEUE,
  });

test('a raw start is found by its reference, and one that is refused shows it nowhere', async () => {
  const orderId = newOrderId('marks-raw');
  const reference = `raw:${'0123456789abcdef'.repeat(3)}`;
  const handle = await rawStart(orderId, orderInput('withdraw', orderId, { reference, metadata }));
  expect(await handle.result()).toMatchObject({ reference, metadata });
  expect((await handle.describe()).searchAttributes).toMatchObject({ PaymentReference: [reference] });

  const wallet = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
  for (const marks of [{ reference: wallet }, { metadata: { to: wallet } }, { metadata: { to: 'a@b.example' } }]) {
    const id = newOrderId('marks-bad');
    const order = { order_id: id, currency: 'usdt', network: 'tron', amount: '20', wallet };
    const refused = await rawStart(id, { order, ...marks });
    const failure = await refused.result().catch(({ cause }) => cause);
    const [field] = Object.keys(marks);
    expect(failure).toMatchObject({
      type: 'InvalidOrder',
      details: [[{ field: expect.stringContaining(`${field}`) }]],
    });
    const { searchAttributes } = await refused.describe();
    expect(JSON.stringify(searchAttributes)).not.toContain(wallet);
    await vi.waitFor(() => expect(eventsOf(id)).toHaveLength(1), 30_000);
  }
  const bodies = shop.received.map(({ body }) => body).join();
  for (const secret of [wallet, 'a@b.example']) expect(bodies).not.toContain(secret);
});
