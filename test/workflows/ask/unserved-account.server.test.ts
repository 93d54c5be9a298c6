import type { WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { beforeEach, describe, expect, test } from 'vitest';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import {
  createTaskQueue,
  DEFAULT_ACCOUNT,
  DEPOSIT_ADDRESS_WORKFLOW,
  ORDERS_TASK_QUEUE,
  RECEIVED_DEPOSIT_WORKFLOW,
} from '../../../src/contract/names.js';
import type { OrderState } from '../../../src/contract/order/messages.js';
import { orderInput } from '../../support/inputs.js';
import { accountWith, newOrderId, useLab } from '../../support/lab.js';

/** Instead of 15 min, for nights on a real server. */
const ATTENTION_AFTER_MS = 2_000;
const WAIT = { timeout: 60_000, interval: 200 };

const UNSERVED = expect.stringMatching(/^no worker has served account default for /);

const lab = useLab({
  workers: false,
  attentionAfterMs: ATTENTION_AFTER_MS,
  pace: { pollInitialMs: 300, pollMaxMs: 3 * ATTENTION_AFTER_MS, settleWindowMs: { atOnce: 20_000, deposit: 600 } },
  sandbox: { settings: { callbacks: { enabled: false } } },
});
beforeEach(() => unserve());

/** From now on the workers serve another account only: they run workflows and nothing of `default`. */
const unserve = () => lab.replaceWorkers(accountWith(lab, { name: 'other' }));

const serve = () => lab.replaceWorkers();

const start = (orderId: string, marker?: string): Promise<OrderHandle> =>
  lab.orders.start('withdraw', orderInput('withdraw', orderId, { ...(marker && { marker }) }));

const creates = (orderId: string): number =>
  lab.requestsOf(orderId).filter((path) => path === '/v2/order/withdraw').length;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const attentionOf = async (handle: OrderHandle) => (await handle.state()).attention;

const told = (handle: OrderHandle) => expect.poll(() => attentionOf(handle), WAIT).toMatchObject({ reason: UNSERVED });

const workflowOf = ({ workflowId }: OrderHandle): WorkflowHandle => lab.temporal.client.workflow.getHandle(workflowId);

describe('an order of an account that no worker serves', () => {
  test('asks for a person, costs nothing while it waits, and a cancel ends it unsent', async () => {
    const orderId = newOrderId('nobody');
    const handle = await start(orderId);
    await told(handle);
    const state = await handle.state();
    expect(state).toMatchObject({ phase: 'creating', attention: { allowed: [] } });
    expect(state.attention?.reason).toContain('Nothing was sent');
    const { searchAttributes } = await workflowOf(handle).describe();
    expect(searchAttributes.PaymentNeedsAttention).toEqual([true]);

    const events = await lab.events(orderId);
    // It asks again whether somebody serves the account, ever more rarely: first after four times that time.
    await pause(2 * ATTENTION_AFTER_MS);
    expect(await lab.events(orderId)).toBe(events);

    await workflowOf(handle).cancel();
    await expect(handle.result()).rejects.toMatchObject({ type: 'OrderCancelled' });
    expect(lab.requestsOf(orderId)).toEqual([]);
    expect((await workflowOf(handle).describe()).searchAttributes.PaymentNeedsAttention).toEqual([false]);
  });

  test('is sent once when a worker serves it, and the attention is taken back', async () => {
    const orderId = newOrderId('late');
    const handle = await start(orderId, 'after_ms=60000');
    await told(handle);
    await serve();
    await expect.poll(async () => (await handle.state()).phase, WAIT).toBe('following');
    expect(await attentionOf(handle)).toBeUndefined();
    expect(creates(orderId)).toBe(1);
  });
});

describe('an order whose workers go', () => {
  test('asks for a person while it is followed, never merely because polls are far apart', async () => {
    await serve();
    const orderId = newOrderId('gone');
    const handle = await start(orderId, 'after_ms=150000');
    await expect.poll(async () => (await handle.state()).phase, WAIT).toBe('following');
    // The pauses between two polls grow to three times the limit.
    await pause(10 * ATTENTION_AFTER_MS);
    expect(await attentionOf(handle)).toBeUndefined();
    const events = await lab.events(orderId);
    expect(events).toBeLessThanOrEqual(20);

    await unserve();
    await told(handle);
    expect((await attentionOf(handle))?.reason).not.toContain('Nothing was sent');
    expect(await lab.events(orderId)).toBeLessThan(events + 12);
    await serve();
    await expect.poll(() => attentionOf(handle), WAIT).toBeUndefined();
  });

  test('asks for a person while it is uncertain, and warns of another id', async () => {
    await serve();
    const orderId = newOrderId('unsettled');
    const handle = await start(orderId, 'create=500 lag_ms=12000');
    await expect.poll(async () => (await handle.state()).phase, { timeout: 60_000, interval: 20 }).toBe('uncertain');
    // The workers must not find it before they are gone, however long that takes.
    lab.sandbox.set({ faults: { 'list.500': 1, 'status.500': 1 } });
    await unserve();
    await told(handle);
    lab.sandbox.set({ faults: {} });
    const reason = (await attentionOf(handle))?.reason;
    expect(reason).toContain('never start it again under another id');
    expect(reason).not.toContain('Nothing was sent');
    await serve();
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    expect(creates(orderId)).toBe(1);
  });
});

test('a create that an operator gave another attempt may have been sent by the first: it is settled, not scheduled again', async () => {
  const orderId = newOrderId('two-attempts');
  const handle = await start(orderId);
  const { client, namespace } = lab.temporal;
  // This test is the worker that takes the first attempt.
  const taskQueue = { name: createTaskQueue(DEFAULT_ACCOUNT) };
  const { taskToken } = await client.withDeadline(Date.now() + 60_000, () =>
    client.workflowService.pollActivityTaskQueue({ namespace, taskQueue, identity: orderId }),
  );
  const details = { payloads: [defaultPayloadConverter.toPayload({ host: 'payments.example' })] };
  await client.workflowService.recordActivityTaskHeartbeat({ namespace, taskToken, details });
  await client.workflowService.updateActivityOptions({
    namespace,
    execution: { workflowId: handle.workflowId },
    type: 'createOrder',
    activityOptions: { retryPolicy: { maximumAttempts: 5 } },
    updateMask: { paths: ['retry_policy.maximum_attempts'] },
  });
  const failure = { message: 'it died', applicationFailureInfo: {} };
  await client.workflowService.respondActivityTaskFailed({ namespace, taskToken, failure });
  await expect.poll(async () => (await handle.state()).phase, WAIT).toBe('uncertain');
  const { events } = await workflowOf(handle).fetchHistory();
  const scheduled = (events ?? []).map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name);
  expect(scheduled.filter((name) => name === 'createOrder')).toHaveLength(1);
});

test('the follower of a receipt asks for a person', async () => {
  const orderUuid = '5e3a2a5e-0000-4000-8000-000000000001';
  const handle = await lab.temporal.client.workflow.start(RECEIVED_DEPOSIT_WORKFLOW, {
    taskQueue: ORDERS_TASK_QUEUE,
    workflowId: `received:default:${orderUuid}`,
    args: [{ ref: 'customer-7', order_uuid: orderUuid }],
  });
  const state = () => handle.query<OrderState>('orderState');
  await expect.poll(state, WAIT).toMatchObject({ attention: { reason: UNSERVED } });
  expect((await state()).attention?.reason).not.toContain('Nothing was sent');
});

test('a deposit address asks for a person, and is created once', async () => {
  const handle = await lab.temporal.client.workflow.start(DEPOSIT_ADDRESS_WORKFLOW, {
    taskQueue: ORDERS_TASK_QUEUE,
    workflowId: 'address:default:customer-8',
    args: [{ ref: 'customer-8', address: { currency: 'usdt', network: 'tron' } }],
  });
  const needsAttention = async () => (await handle.describe()).searchAttributes.PaymentNeedsAttention?.[0];
  await expect.poll(needsAttention, WAIT).toBe(true);
  await serve();
  expect(await handle.result()).toMatchObject({ adopted: false });
  expect(await needsAttention()).toBe(false);
});
