import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openGrpcGate } from '../../scripts/temporal/grpc-gate.js';
import { serviceTime } from '../../src/contract/reconcile/input.js';
import { PaymentOrders } from '../../src/index.js';
import { useLab } from '../support/lab.js';
import { executions, startSteered } from '../workflows/compensation/parked-orders.fixture.js';
import { bookOf } from './books.fixture.js';

const lab = useLab({
  ...{ callbacks: false, quiet: true, attentionAfterMs: 1_500 },
  pace: { settleWindowMs: { atOnce: 2_000, deposit: 600 } },
});
vi.setConfig({ testTimeout: 120_000 });

test('a refused order is not missing because the service was silent when it was looked for after its end', async () => {
  const { orderId, handle } = await startSteered(lab, 'withdraw', { marker: 'create=400-before' });
  const ended = expect(handle.result()).rejects.toMatchObject({ type: 'OrderRejected' });
  const afterEnd = lab.temporal.client.workflow.getHandle(`after-end:order:default:${orderId}`);
  await vi.waitFor(() => afterEnd.describe(), { timeout: 20_000, interval: 50 });
  lab.sandbox.set({ faults: { 'status.503': 1, 'list.503': 1 } });
  const look = lab.orders.order(orderId, { afterEnd: true });
  await vi.waitFor(async () => expect((await look.state()).attention?.code).toBe('service-down'), 20_000);
  lab.sandbox.set({ faults: {} });
  await ended;
  await vi.waitFor(async () => expect((await look.state()).attention).toBeUndefined(), 20_000);
  expect(executions(lab, orderId)).toBe(0);
  await sleep(2_000);
  const { end } = await bookOf(lab.orders.export({ from: serviceTime(Date.now() - 3_600_000) }));
  expect(end).toMatchObject({ missing: 0, differences: 0 });
});

test('an order that is open in the book of one period has its `order` line in that of the next', async () => {
  const { orderId, handle } = await startSteered(lab, 'withdraw', { marker: 'after_ms=9000' });
  await handle.created();
  await sleep(2_000);
  const borderMs = Math.floor(Date.now() / 1_000) * 1_000;
  const [from, border] = [serviceTime(borderMs - 3_600_000), serviceTime(borderMs)];
  await sleep(1_100);
  const first = await bookOf(lab.orders.export({ from, to: border }));
  expect((await handle.result()).outcome).toBe('completed');
  const second = await bookOf(lab.orders.export({ from: border }));
  const kinds = [first, second].map(({ orders }) =>
    orders.flatMap(({ order_id: id, kind }) => (id === orderId ? [kind] : [])),
  );
  expect(kinds).toEqual([['open'], ['order']]);
  expect([first.end, second.end]).toMatchObject([{ open: 1 }, { open: 0, orders: 1, differences: 0 }]);
});

test('a limit is that of one request: a book may take longer', async () => {
  const slow = await openGrpcGate(lab.temporal.address);
  onTestFinished(slow.close);
  slow.changeAnswers('ListWorkflowExecutions', (message) => sleep(3_000, message));
  const connection = await Connection.connect({ address: slow.address });
  onTestFinished(() => connection.close());
  const { dataConverter, namespace } = lab.temporal.client.options;
  const orders = new PaymentOrders(new Client({ connection, dataConverter, namespace }));
  const book = await bookOf(orders.export({ from: serviceTime(Date.now() - 1_000) }, { timeoutMs: 5_000 }));
  expect(book.end).toMatchObject({ kind: 'end', missing: 0 });
});
