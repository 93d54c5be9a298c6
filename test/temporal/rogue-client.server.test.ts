import { randomUUID } from 'node:crypto';
import type { Payload } from '@temporalio/common';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import {
  DECIDE_UPDATE,
  ORDER_CALLBACK_SIGNAL,
  ORDERS_TASK_QUEUE,
  SERVICE_READ_WORKFLOW,
  searchAttribute,
} from '../../src/contract/names.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { plain, type Rogue, rogueAt, updatesIn } from './rogue.fixture.js';
import { keyOf } from './stored-bytes.fixture.js';

vi.setConfig({ testTimeout: 150_000 });

const PARKED = { marker: 'create=500-before', resend: 'never' } as const;
const CHIEF = 'Chief Operator';

const lab = useLab({ encryptionKeys: [keyOf('a')], encryptionRequired: true });
let rogue: Rogue;
beforeAll(() => {
  rogue = rogueAt(lab);
});

const executed = (orderId: string): number => lab.sandbox.stats().executedByOrderId[orderId] ?? 0;

async function parkedOrder(label: string) {
  const order = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId(label), PARKED));
  await vi.waitUntil(async () => (await order.state()).phase === 'parked', { timeout: 60_000, interval: 100 });
  const { revision } = await order.state();
  return { order, revision };
}

const decide = (workflowId: string, args: Payload[] = []) => rogue.update(workflowId, DECIDE_UPDATE, args);

describe.concurrent('whoever reaches Temporal without a key', () => {
  test('starts no payment: the run ends, is shown to people, and nothing is sent', async () => {
    const orderId = newOrderId('raw');
    const handle = await rogue.client.workflow.start('withdraw', {
      workflowId: `order:default:${orderId}`,
      taskQueue: ORDERS_TASK_QUEUE,
      args: [orderInput('withdraw', orderId)],
    });
    await expect(lab.orders.order(orderId).result()).rejects.toMatchObject({ name: 'UnresolvedError' });
    expect(lab.requestsOf(orderId)).toEqual([]);
    const { typedSearchAttributes, status } = await handle.describe();
    expect(status.name).toBe('FAILED');
    expect(typedSearchAttributes.get(searchAttribute.needsAttention)).toBe(true);
  });

  test('has a signed read made without input, the gate of a roll-out, and cannot read its answer', async () => {
    const started = async (args: unknown[]) => {
      const workflowId = `test-${randomUUID()}`;
      const handle = await rogue.client.workflow.start(SERVICE_READ_WORKFLOW, {
        ...{ workflowId, taskQueue: ORDERS_TASK_QUEUE, args },
      });
      const status = async () => (await handle.describe()).status.name;
      await vi.waitUntil(async () => (await status()) !== 'RUNNING', { timeout: 60_000, interval: 100 });
      const ended = (await rogue.historyOf(workflowId)).at(-1)?.workflowExecutionCompletedEventAttributes;
      const encodings = ended?.result?.payloads?.map(({ metadata }) => `${Buffer.from(metadata?.encoding ?? [])}`);
      return { status: await status(), encodings };
    };
    expect(await started([])).toEqual({ status: 'COMPLETED', encodings: ['binary/encrypted'] });
    expect(await started([{ read: 'balances' }])).toMatchObject({ status: 'FAILED' });
  });

  test('decides no parked order', async () => {
    const { order, revision } = await parkedOrder('decided');
    const decision = { action: 'resend', by: CHIEF, reason: 'it is urgent', revision };
    expect(await decide(order.workflowId, [plain(decision)])).toBe('refused');
    expect(await order.state()).toMatchObject({ phase: 'parked', revision });
    expect(executed(order.orderId)).toBe(0);
  });

  test('decides nothing with the encrypted decision of another order', async () => {
    const [a, b] = await Promise.all([parkedOrder('a'), parkedOrder('b')]);
    expect(a.revision).toBe(b.revision);
    await a.order.decide({ action: 'resend', by: 'ann', reason: 'absent', revision: a.revision });
    await a.order.result();
    const [copied] = updatesIn(await rogue.historyOf(a.order.workflowId), DECIDE_UPDATE);
    expect(await decide(b.order.workflowId, copied)).toBe('refused');
    expect(await b.order.state()).toMatchObject({ phase: 'parked', revision: b.revision });
    expect([executed(a.order.orderId), executed(b.order.orderId)]).toEqual([1, 0]);
  });

  test('starts nothing with the encrypted input of another order', async () => {
    const { order } = await parkedOrder('copied');
    const [started] = await rogue.historyOf(order.workflowId);
    const input = started?.workflowExecutionStartedEventAttributes?.input;
    const orderId = newOrderId('copy');
    const workflowId = `order:default:${orderId}`;
    await rogue.client.workflowService.startWorkflowExecution({
      namespace: lab.temporal.namespace,
      requestId: randomUUID(),
      workflowId,
      workflowType: { name: 'withdraw' },
      taskQueue: { name: ORDERS_TASK_QUEUE },
      input,
    });
    await expect(lab.orders.order(orderId).result()).rejects.toMatchObject({ name: 'UnresolvedError' });
    expect(lab.requestsOf(orderId)).toEqual([]);
  });

  test('stops no order with a callback that nobody can read', async () => {
    const orderId = newOrderId('poisoned');
    const order = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker: 'pay_ms=10000' }));
    // Before a send, a callback tells of an earlier one.
    await order.created();
    const handle = rogue.client.workflow.getHandle(order.workflowId);
    await handle.signal(ORDER_CALLBACK_SIGNAL, { order_uuid: 'x', status: 'completed' });
    const encoding = Buffer.from('binary/encrypted');
    await rogue.client.workflowService.signalWorkflowExecution({
      namespace: lab.temporal.namespace,
      workflowExecution: { workflowId: order.workflowId },
      signalName: ORDER_CALLBACK_SIGNAL,
      input: {
        payloads: [
          { metadata: { encoding, 'encryption-key-id': Buffer.from('lost') }, data: Buffer.from('zzz') },
          { metadata: { encoding, 'encryption-key-id': Buffer.from('a') }, data: Buffer.alloc(60) },
        ],
      },
    });
    expect(await order.result()).toMatchObject({ outcome: 'completed' });
  });
});
