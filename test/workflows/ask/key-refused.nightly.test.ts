import { afterEach, expect, test } from 'vitest';
import { DEPOSIT_ADDRESS_WORKFLOW, ORDERS_TASK_QUEUE } from '../../../src/contract/names.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';

const WAIT = { timeout: 30_000, interval: 100 };

/** What the first refusal costs an order that is followed or looked for, and its end: far less than a dozen of them. */
const EVENTS_OF_A_REFUSAL = 12;

const lab = useGatedLab(undefined, {
  pace: { pollInitialMs: 300, pollMaxMs: 1_000 },
  sandbox: { settings: { callbacks: { enabled: false } } },
});

const attentionOf = async (orderId: string) => (await lab.orders.order(orderId).state()).attention?.code;

const refuse = (status: number): void => {
  lab.gate.rule = () => ({ status, body: '{}' });
};

const accept = (): void => {
  lab.gate.rule = () => undefined;
};

afterEach(accept);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test('an order that is followed reports the first 401 at once, without more history, until the key works again', async () => {
  const orderId = newOrderId('followed');
  await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker: 'after_ms=60000' }));
  await expect.poll(async () => (await lab.orders.order(orderId).state()).phase, WAIT).toBe('following');
  await pause(2_000);
  const before = await lab.events(orderId);
  refuse(401);
  await expect.poll(() => attentionOf(orderId), WAIT).toBe('key-refused');
  const told = await lab.events(orderId);
  expect(told - before).toBeLessThanOrEqual(EVENTS_OF_A_REFUSAL);
  await pause(4_000);
  expect(await lab.events(orderId)).toBe(told);
  accept();
  await expect.poll(() => attentionOf(orderId), WAIT).toBeUndefined();
  expect(await lab.events(orderId)).toBeLessThanOrEqual(told + EVENTS_OF_A_REFUSAL);
});

test('an order that could not be sent reports the first 403 at once, and is sent once when the key works again', async () => {
  refuse(403);
  const orderId = newOrderId('unsent');
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId));
  await expect.poll(() => attentionOf(orderId), WAIT).toBe('key-refused');
  const told = await lab.events(orderId);
  await pause(4_000);
  expect(await lab.events(orderId)).toBe(told);
  accept();
  expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  expect(lab.sandbox.stats().executedByOrderId[orderId]).toBe(1);
  const { searchAttributes } = await lab.temporal.client.workflow.getHandle(handle.workflowId).describe();
  expect(searchAttributes.PaymentNeedsAttention).toEqual([false]);
});

test('what is left of a final order is read once the key works again', async () => {
  const orderId = newOrderId('left');
  const marker = 'outcome=completed_partially fraction=0.5';
  // Only the list is refused, which the probe before the create needs, too.
  lab.gate.rule = ({ path, orderId: asked }) =>
    path.endsWith('/list') && asked === orderId && lab.gate.about(orderId, 'create').length > 0
      ? { status: 401, body: '{}' }
      : undefined;
  const handle = await lab.orders.start(
    'withdraw',
    orderInput('withdraw', orderId, { marker, compensation: 'report' }),
  );
  await expect.poll(() => attentionOf(orderId), WAIT).toBe('key-refused');
  accept();
  expect(await handle.result()).toMatchObject({ outcome: 'completed_partially' });
});

test('a deposit address reports it at once, and is created once', async () => {
  refuse(401);
  const handle = await lab.temporal.client.workflow.start(DEPOSIT_ADDRESS_WORKFLOW, {
    taskQueue: ORDERS_TASK_QUEUE,
    workflowId: 'address:default:customer-refused',
    args: [{ ref: 'customer-refused', address: { currency: 'usdt', network: 'tron' } }],
  });
  const reason = async () => (await handle.describe()).searchAttributes.PaymentAttentionReason?.[0];
  await expect.poll(reason, WAIT).toBe('key-refused');
  accept();
  await expect.poll(reason, WAIT).toBeFalsy();
  await handle.terminate();
});

test('of many orders of one account ten report it in a minute; the others write nothing', async () => {
  const ids = Array.from({ length: 25 }, () => newOrderId('many'));
  await Promise.all(
    ids.map((id) => lab.orders.start('withdraw', orderInput('withdraw', id, { marker: 'after_ms=60000' }))),
  );
  const phases = () => Promise.all(ids.map(async (id) => (await lab.orders.order(id).state()).phase));
  await expect.poll(phases, WAIT).toEqual(ids.map(() => 'following'));
  await pause(2_000);
  const before = await Promise.all(ids.map((id) => lab.events(id)));
  refuse(401);
  const codes = () => Promise.all(ids.map(attentionOf));
  await expect.poll(async () => (await codes()).filter(Boolean).length, WAIT).toBeGreaterThan(0);
  await pause(4_000);
  const told = (await codes()).map((code) => code === 'key-refused');
  expect(told.filter(Boolean).length).toBeLessThanOrEqual(10);
  const after = await Promise.all(ids.map((id) => lab.events(id)));
  const untold = after.filter((events, at) => !told[at] && events !== before[at]);
  expect(untold).toEqual([]);
  accept();
  await expect.poll(async () => (await codes()).filter(Boolean), WAIT).toEqual([]);
});
