import { describe, expect, test, vi } from 'vitest';
import { serviceOf } from '../../../scripts/service-of.js';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import { startReceived } from '../../../src/client/start-options.js';
import type { ReconcileResult } from '../../../src/contract/reconcile/reconcile.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';
import { parkedFor } from '../../workflows/compensation/parked-orders.fixture.js';

/** Callbacks that nobody sent. */
const FORGED = ['forged-1', 'forged-2', 'forged-3'];

const lab = useLab({ quiet: true, callbacks: false });

/** An order whose create nobody knows the fate of, and one under its id that was created past our workflows. */
async function parkedBeside(label: string, changes: { amount?: string } = {}): Promise<OrderHandle> {
  const marker = 'create=500-before duplicate=c after_ms=20';
  const input = orderInput('withdraw', newOrderId(label), { marker, resend: 'never' });
  const handle = await lab.orders.start('withdraw', input);
  await parkedFor(handle, 'no clear answer');
  const service = await serviceOf(lab.sandbox);
  await service.createOrder('withdraw', { ...input.order, ...changes });
  const isFinal = () =>
    lab.sandbox.orders().some(({ order }) => order.user_order_id === handle.orderId && order.finalized_at !== null);
  await vi.waitUntil(isFinal, { timeout: 60_000 });
  return handle;
}

const rowOf = ({ disagreements }: ReconcileResult, { orderId }: OrderHandle) =>
  disagreements.find((row) => row.order_id === orderId);

async function signalsOf({ workflowId }: OrderHandle): Promise<number> {
  const { events } = await lab.temporal.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).filter((event) => event.workflowExecutionSignaledEventAttributes).length;
}

describe('an order that waits for a decision while another one is final under its id', () => {
  test('is undecided; after an uncertain create it looks once more, in a conflict it is left alone', async () => {
    const [foreign, ours] = await Promise.all([parkedBeside('foreign', { amount: '99' }), parkedBeside('ours')]);
    const first = await lab.orders.reconcile();
    expect(first.classes).toMatchObject({ undecided: 2, woken: 0 });
    expect(rowOf(first, foreign)).toMatchObject({ class: 'undecided', status: 'completed' });

    expect(await ours.result()).toMatchObject({ outcome: 'completed', adopted: true });
    const { revision } = await parkedFor(foreign, 'has our id');
    const again = await lab.orders.reconcile();
    expect(again.classes).toMatchObject({ undecided: 1, woken: 0, equal: 1 });
    expect(rowOf(again, ours)).toBeUndefined();
    expect(await foreign.state()).toMatchObject({ phase: 'parked', revision });
    expect(await signalsOf(foreign)).toBe(1);
  });
});

test('receipts that nobody received cost the service no look-ups', async () => {
  const { client } = lab.temporal;
  await Promise.all(FORGED.map((orderUuid) => startReceived(client, { ref: 'forged', order_uuid: orderUuid })));
  for (const orderUuid of FORGED) {
    await expect(lab.orders.received(orderUuid).result()).rejects.toMatchObject({ type: 'OrderAbsent' });
  }
  const query = "WorkflowId STARTS_WITH 'received:' AND ExecutionStatus = 'Failed'";
  await vi.waitUntil(async () => (await client.workflow.count(query)).count === FORGED.length, { timeout: 60_000 });
  const lookUps = () => lab.sandbox.stats().requestsByPath['/v2/order/status'] ?? 0;
  const before = lookUps();
  expect((await lab.orders.reconcile()).classes).toMatchObject({ noOrder: FORGED.length });
  expect(lookUps()).toBe(before);
});
