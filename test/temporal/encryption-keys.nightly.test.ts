import { Client, type WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { PaymentOrders } from '../../src/client.js';
import type { EncryptionKey } from '../../src/config.js';
import { ORDER_CALLBACK_SIGNAL } from '../../src/contract/names.js';
import { dataConverter } from '../../src/temporal.js';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';
import { keyOf } from './stored-bytes.fixture.js';

// Workers that took over may wait 10 s for a task that was given to one which has ended, several times in a row.
vi.setConfig({ testTimeout: 150_000 });

const A = keyOf('a');
const B = keyOf('b');
const PARKED = { marker: 'create=500-before', resend: 'never' } as const;

/** The library on a lab's namespace, with keys of its own. */
const ordersWith = ({ temporal: { client, namespace } }: Lab, keys?: readonly EncryptionKey[]): PaymentOrders =>
  new PaymentOrders(
    new Client({ connection: client.connection, namespace, dataConverter: dataConverter({ encryptionKeys: keys }) }),
  );

const handleOf = ({ temporal }: Lab, workflowId: string): WorkflowHandle =>
  temporal.client.workflow.getHandle(workflowId);

/** The revision of an order once it is parked; a question may meet workers that have just ended. */
function untilParked(orders: PaymentOrders, orderId: string): Promise<number> {
  const revision = async () => {
    const state = await orders.order(orderId).state();
    expect(state.phase).toBe('parked');
    return state.revision;
  };
  return vi.waitFor(revision, { timeout: 60_000, interval: 100 });
}

/** Lets a parked order, proven absent, be sent once more. */
const resend = (orders: PaymentOrders, orderId: string, revision: number) =>
  orders.order(orderId).decide({ action: 'resend', by: 'ann', reason: 'absent', revision });

/** Waits until a workflow task of an order has failed. */
async function untilTasksFail(lab: Lab, workflowId: string): Promise<void> {
  const failed = async () => {
    const { events } = await handleOf(lab, workflowId).fetchHistory();
    return events?.some((event) => event.workflowTaskFailedEventAttributes) ?? false;
  };
  await vi.waitUntil(failed, { timeout: 60_000, interval: 100 });
}

/** Key ids of a history's start and end, '' where they are plain. */
async function keyIdsOf(lab: Lab, workflowId: string): Promise<string[]> {
  const { events = [] } = await handleOf(lab, workflowId).fetchHistory();
  const first = events?.[0]?.workflowExecutionStartedEventAttributes?.input;
  const last = events?.at(-1)?.workflowExecutionCompletedEventAttributes?.result;
  return [first, last].map((payloads) =>
    Buffer.from(payloads?.payloads?.[0]?.metadata?.['encryption-key-id'] ?? []).toString(),
  );
}

const unreadable = { name: 'PayloadDecryptionError' };

describe.concurrent('a new key in front of the old one', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await openLab({ encryptionKeys: [A] });
  });
  afterAll(() => lab?.close());

  test('reads, compares and decides what the old one wrote; new orders need the new one', async () => {
    const done = orderInput('withdraw', newOrderId('rotated'));
    const parked = orderInput('withdraw', newOrderId('rotated'), PARKED);
    await (await lab.orders.start('withdraw', done)).result();
    await lab.orders.start('withdraw', parked);
    await untilParked(lab.orders, parked.order.order_id);

    await lab.stopWorkers();
    await lab.startWorkers({ encryptionKeys: [B, A] });
    const rotated = ordersWith(lab, [B, A]);
    const same = await rotated.start('withdraw', done);
    expect(same.attached).toBe(true);
    expect(await same.result()).toMatchObject({ outcome: 'completed' });
    await expect(rotated.start('withdraw', { ...done, compensation: 'ask' })).rejects.toMatchObject({
      name: 'ConflictError',
      subject: 'order',
      fields: ['compensation'],
    });
    const revision = await untilParked(rotated, parked.order.order_id);
    const resent = rotated.order(parked.order.order_id);
    await resend(rotated, resent.orderId, revision);
    expect(await resent.result()).toMatchObject({ outcome: 'completed' });
    expect(await keyIdsOf(lab, resent.workflowId)).toEqual(['a', 'b']);

    const fresh = await rotated.start('withdraw', orderInput('withdraw', newOrderId('rotated')));
    expect(await fresh.result()).toMatchObject({ outcome: 'completed' });
    const behind = ordersWith(lab, [A]).order(fresh.orderId);
    await expect(behind.result()).rejects.toMatchObject(unreadable);
    await expect(behind.state()).rejects.toMatchObject(unreadable);
  });
});

describe.concurrent('workers with another key', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await openLab({ encryptionKeys: [A], workers: false });
  });
  afterAll(() => lab?.close());

  test('fail the tasks of an order, which stays open, sends nothing, and goes on with the right key', async () => {
    const fresh = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('locked')));
    await lab.startWorkers({ encryptionKeys: [keyOf('a', 'another')] });
    await untilTasksFail(lab, fresh.workflowId);
    expect(await fresh.isOpen()).toBe(true);
    expect(lab.requestsOf(fresh.orderId)).toEqual([]);

    await lab.stopWorkers();
    await lab.startWorkers();
    expect(await fresh.result()).toMatchObject({ outcome: 'completed', adopted: false });
    const parked = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('locked'), PARKED));
    await untilParked(lab.orders, parked.orderId);
    await lab.stopWorkers();
    // Encryption switched off by mistake is the same: ciphertext is never taken for an empty input.
    await lab.startWorkers({ encryptionKeys: undefined });
    await handleOf(lab, parked.workflowId).signal(ORDER_CALLBACK_SIGNAL);
    await untilTasksFail(lab, parked.workflowId);
    expect(await parked.isOpen()).toBe(true);

    await lab.stopWorkers();
    await lab.startWorkers();
    await resend(lab.orders, parked.orderId, await untilParked(lab.orders, parked.orderId));
    expect(await parked.result()).toMatchObject({ outcome: 'completed' });
    expect(lab.sandbox.stats().executedByOrderId).toMatchObject({ [fresh.orderId]: 1, [parked.orderId]: 1 });
  });
});

describe.concurrent('encryption switched on', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await openLab();
  });
  afterAll(() => lab?.close());

  test('an order started plain goes on, and what is written from then on is encrypted', async () => {
    const parked = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('plain'), PARKED));
    await untilParked(lab.orders, parked.orderId);
    await lab.stopWorkers();
    await lab.startWorkers({ encryptionKeys: [A] });

    const orders = ordersWith(lab, [A]);
    await resend(orders, parked.orderId, await untilParked(orders, parked.orderId));
    expect(await orders.order(parked.orderId).result()).toMatchObject({ outcome: 'completed' });
    expect(await keyIdsOf(lab, parked.workflowId)).toEqual(['', 'a']);
    await expect(parked.result()).rejects.toMatchObject({
      ...unreadable,
      message: 'payload encrypted with key a: not in PAYLOAD_ENCRYPTION_KEYS',
    });
  });
});
