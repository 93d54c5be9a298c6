import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { ORDER_CALLBACK_SIGNAL } from '../../../src/contract/names.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';
import { giveUpCreate } from '../../support/pending-activity.js';
import { listOf, operationOf } from '../../support/service-gate.js';
import { decideNow, parkedFor } from '../compensation/parked-orders.fixture.js';

vi.setConfig({ testTimeout: 170_000 });

const WINDOW_MS = 8_000;
const lab = useGatedLab(undefined, {
  callbacks: false,
  pace: { settleWindowMs: { atOnce: WINDOW_MS, deposit: WINDOW_MS } },
});
const executed = (id: string) => lab.sandbox.stats().executedByOrderId[id] ?? 0;

test('a hold takes back a create that was paused while it was sent, a person refuses it, and its callback comes: it is not "never sent"', async () => {
  const orderId = newOrderId('refused');
  lab.gate.rule = ({ path, orderId: asked, body }) => {
    const operation = operationOf(path);
    const others = lab.sandbox.orders().filter(({ order }) => order.user_order_id !== orderId);
    if (operation === 'list') return listOf(body, others);
    return operation === 'status' && asked === orderId ? { status: 400, body: '{}' } : undefined;
  };
  const marker = 'create=no-answer duplicate=c';
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker, resend: 'never' }));
  await vi.waitUntil(() => executed(orderId) === 1, { timeout: 60_000, interval: 20 });
  const { client, namespace } = lab.temporal;
  await giveUpCreate(client, namespace, handle.workflowId, true);
  await handle.hold({ by: 'ann', reason: 'is the payee right?' });
  await parkedFor(handle, 'held by ann');
  await decideNow(handle, 'refuse');
  await sleep(2_000);
  await client.workflow.getHandle(handle.workflowId).signal(ORDER_CALLBACK_SIGNAL, {});
  const end = await handle
    .result({ timeoutMs: 90_000 })
    .catch((error: unknown) => error as { type?: string; message: string });
  expect((end as { type?: string }).type).not.toBe('OrderCancelled');
});
