import type { Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EncryptionKey } from '../../src/config.js';
import { DECIDE_UPDATE, ORDER_CALLBACK_SIGNAL, ORDER_STATE_QUERY } from '../../src/contract/names.js';
import { encryptionCodec } from '../../src/temporal/encryption-codec.js';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';
import { keyOf } from './stored-bytes.fixture.js';

const { WorkflowTaskFailedCause } = proto.temporal.api.enums.v1;

const OURS = keyOf('ours');
const JSON_PLAIN = { encoding: Buffer.from('json/plain') };

const text = (encoding: string, data: string): Payload => ({
  metadata: { encoding: Buffer.from(encoding) },
  data: Buffer.from(data),
});

/** A payload as a backend with this key writes it. */
async function encrypted(key: EncryptionKey): Promise<Payload> {
  const [payload] = await encryptionCodec([key]).encode([
    { metadata: JSON_PLAIN, data: Buffer.from('{"action":"resend"}') },
  ]);
  if (!payload) throw new Error('no payload');
  return payload;
}

async function changed(): Promise<Payload> {
  const payload = await encrypted(OURS);
  const data = Buffer.from(payload.data ?? []);
  data[20] = (data[20] ?? 0) ^ 1;
  return { ...payload, data };
}

/** What a raw client can send instead of an argument. */
const POISONS: [string, () => Promise<Payload[]>][] = [
  ['encrypted with a key that nobody has', async () => [await encrypted(keyOf('theirs'))]],
  ['encrypted with another key of the same id', async () => [await encrypted(keyOf('ours', 'theirs'))]],
  ['changed on its way', async () => [await changed()]],
  ['cut short', async () => [{ ...(await encrypted(OURS)), data: Buffer.from('short') }]],
  ['said to be encrypted, with nothing in it', async () => [text('binary/encrypted', '')]],
  ['unreadable in the second argument alone', async () => [text('json/plain', '{}'), await encrypted(keyOf('theirs'))]],
  ['said to be compressed', async () => [text('binary/compressed', 'x')]],
  ['no JSON', async () => [text('json/plain', '{"a":')]],
  ['of no encoding', async () => [{ data: Buffer.from([0xff]) }]],
  ['empty in every part', async () => [{ metadata: { encoding: Buffer.alloc(0) }, data: Buffer.alloc(0) }]],
  ['like the mark of what could not be read', async () => [text('unreadable: by me', '')]],
];

describe.each<[string, EncryptionKey[] | undefined]>([
  ['with encryption on', [OURS]],
  ['without encryption', undefined],
])('%s, an argument that nobody can read', (_, encryptionKeys) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await openLab({ encryptionKeys, callbacks: false });
  });
  afterAll(() => lab?.close());

  async function openOrder() {
    const handle = await lab.orders.start(
      'withdraw',
      orderInput('withdraw', newOrderId('poisoned'), { marker: 'after_ms=1500' }),
    );
    await handle.created();
    return handle;
  }

  /** Those that began anew because something came in meanwhile are no failures. */
  async function failedTasks(workflowId: string): Promise<number> {
    const { events = [] } = await lab.temporal.client.workflow.getHandle(workflowId).fetchHistory();
    return (events ?? []).filter(
      ({ workflowTaskFailedEventAttributes: failed }) =>
        failed && failed.cause !== WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND,
    ).length;
  }

  const target = (workflowId: string) => ({
    namespace: lab.temporal.namespace,
    workflowExecution: { workflowId },
  });

  test.concurrent.for(POISONS)('in a callback does the order no harm: %s', async ([, poison]) => {
    const handle = await openOrder();
    await lab.temporal.client.connection.workflowService.signalWorkflowExecution({
      ...target(handle.workflowId),
      signalName: ORDER_CALLBACK_SIGNAL,
      input: { payloads: await poison() },
    });
    expect(await handle.result({ timeoutMs: 20_000 })).toMatchObject({ outcome: 'completed' });
    expect(await failedTasks(handle.workflowId)).toBe(0);
    expect(lab.sandbox.stats().executedByOrderId[handle.orderId]).toBe(1);
  });

  test.concurrent.for(POISONS)('in a decision is refused, and the order goes on: %s', async ([, poison]) => {
    const handle = await openOrder();
    const { outcome } = await lab.temporal.client.connection.workflowService.updateWorkflowExecution({
      ...target(handle.workflowId),
      request: { meta: { updateId: 'poison' }, input: { name: DECIDE_UPDATE, args: { payloads: await poison() } } },
      waitPolicy: { lifecycleStage: 3 },
    });
    expect(outcome?.failure).toBeTruthy();
    expect(await handle.result({ timeoutMs: 20_000 })).toMatchObject({ outcome: 'completed' });
    expect(await failedTasks(handle.workflowId)).toBe(0);
  });

  test.concurrent.for(POISONS)('in a question does the order no harm: %s', async ([, poison]) => {
    const handle = await openOrder();
    await lab.temporal.client.connection.workflowService
      .queryWorkflow({
        namespace: lab.temporal.namespace,
        execution: { workflowId: handle.workflowId },
        query: { queryType: ORDER_STATE_QUERY, queryArgs: { payloads: await poison() } },
      })
      .catch(() => undefined);
    expect(await handle.result({ timeoutMs: 20_000 })).toMatchObject({ outcome: 'completed' });
    expect(await failedTasks(handle.workflowId)).toBe(0);
  });
});
