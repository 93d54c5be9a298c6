import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { serviceOf } from '../../../scripts/service-of.js';
import { PaymentOrders } from '../../../src/client.js';
import { NONE_ENDED } from '../../../src/contract/batch/batch.js';
import type { OrderInput } from '../../../src/contract/order/input-and-result.js';
import type { WithdrawRequest } from '../../../src/contract/order/request.js';
import type { Order } from '../../../src/contract/service-objects.js';
import { cardNumber } from '../../support/batch-files.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId } from '../../support/lab.js';
import { runStarterWith } from '../../support/run-starter.js';
import { startRows, testRows, useBatchLab } from '../batch/batches.fixture.js';
import { decideNow, parkedFor } from '../compensation/parked-orders.fixture.js';
import { serviceView } from './service-view.fixture.js';

const WINDOW_MS = 1_500;

const lab = useBatchLab({ callbacks: false, pace: { settleWindowMs: { atOnce: WINDOW_MS, deposit: WINDOW_MS } } });

const MARKER = 'create=500-before duplicate=c';

/** Somebody else's order under the id of one of ours. */
async function createElsewhere({ order }: OrderInput<'withdraw'>): Promise<Order> {
  return (await serviceOf(lab.sandbox)).createOrder('withdraw', { ...order, amount: '99' });
}

/** An order of ours that was sent, and that a person is asked about because another one has its id. */
async function startConflict(label: string, order: Partial<WithdrawRequest> = {}) {
  const plain = orderInput('withdraw', newOrderId(label), { marker: MARKER });
  const input = { ...plain, order: { ...plain.order, ...order } };
  const handle = await lab.orders.start('withdraw', input);
  await vi.waitFor(() => expect(serviceView(lab, handle.orderId).creates).toBe(1), 60_000);
  const foreign = await createElsewhere(input);
  await parkedFor(handle, foreign.order_uuid);
  return { input, handle, foreign };
}

// Without disconnecting the lab's own client.
const starter = (...argv: string[]) =>
  runStarterWith(async () => Object.assign(new PaymentOrders(lab.temporal.client), { close: async () => {} }), argv);

describe('an order closed by a person after a send, while another one has its id', () => {
  test('is told as open to doubt everywhere, and never started again', async () => {
    const { input, handle, foreign } = await startConflict('closed');
    await decideNow(handle, 'close-absent');
    const error = await handle.result().catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ name: 'UnresolvedError', subject: 'order', closed: true });
    expect(String(error)).toMatch(/may be this payment; closed by ann.*never start it under another id/s);
    await expect(handle.created()).rejects.toMatchObject({ name: 'UnresolvedError', subject: 'order' });

    expect(await starter('order', 'show', handle.orderId, '--json')).toMatchObject({ code: 4 });
    await expect(lab.orders.start('withdraw', input, { again: true })).rejects.toMatchObject({
      name: 'RefusedError',
      subject: 'order',
      request: 'again',
      undecided: true,
    });
    expect((await lab.orders.start('withdraw', input)).attached).toBe(true);

    const found = await lab.orders.reconcile();
    const about = found.disagreements.filter(({ order_id: orderId }) => orderId === handle.orderId);
    expect(about).toMatchObject([
      { class: 'unresolved', order_uuid: foreign.order_uuid, detail: expect.stringContaining('closed by a person') },
    ]);
    expect(serviceView(lab, handle.orderId).creates).toBe(2);
  });

  test('also when that one is no longer shown: what was seen once may have been ours', async () => {
    const { handle } = await startConflict('gone');
    lab.sandbox.set({ faults: { 'list.unseen': 1, 'status.unseen': 1 } });
    await decideNow(handle, 'close-absent');
    const error = await handle.result().catch((thrown: Error) => thrown);
    lab.sandbox.set({ faults: {} });
    expect(error).toMatchObject({ name: 'UnresolvedError', subject: 'order', closed: true });
  });

  test('is a conflict in the counts and the report of a batch that has its row', async () => {
    const rows = testRows('row', 2, (row) => (row === 1 ? MARKER : ''));
    const [first] = rows;
    if (!first) throw new Error('no rows');
    const { input, handle } = await startConflict(first.id, { wallet: cardNumber(1), order_id: first.id });
    expect(input.order.amount).toBe(first.amount);
    await decideNow(handle, 'close-absent');
    await expect(handle.result()).rejects.toMatchObject({ name: 'UnresolvedError', subject: 'order' });
    const { outcomes, report } = await (await startRows(lab, rows)).result();
    expect(outcomes).toEqual({ ...NONE_ENDED, notStarted: 0, completed: 1, conflict: 1 });
    const csv = await readFile(join(lab.folder, report?.path ?? ''), 'utf8');
    expect(csv).toMatch(/conflict.*may be this payment/);
    expect(serviceView(lab, handle.orderId).creates).toBe(2);
  });
});

test('the command line adopts in spite of named differences', async () => {
  const { handle, foreign } = await startConflict('named');
  const { revision, runId } = await handle.state();
  const decide = ['order', 'decide', handle.orderId, '--by', 'ann', '--reason', 'ours', '--action', 'adopt'];
  const named = ['--revision', String(revision), '--run', runId, '--order-uuid', foreign.order_uuid];
  expect((await starter(...decide, ...named, '--differences', 'order_id')).code).toBe(2);
  expect((await starter(...decide, ...named, '--differences', 'amount')).code).toBe(0);
  expect(await handle.result()).toMatchObject({ outcome: 'completed', echoDifferences: ['amount'] });
  const shown = await starter('order', 'show', handle.orderId);
  expect(shown.stdout).toContain('adopt in spite of amount by ann');
});
