import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { serviceOf } from '../../../scripts/service-of.js';
import type { BatchHandle } from '../../../src/client/batch/batch-handle.js';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import { startOrder } from '../../../src/client/start-order.js';
import { type BatchInput, type BatchOutcomes, NONE_ENDED } from '../../../src/contract/batch/batch.js';
import { recoveredStart } from '../../../src/contract/order/followers.js';
import type { WithdrawRequest } from '../../../src/contract/order/request.js';
import type { PaymentService } from '../../../src/payment-service/client.js';
import { batchResultText } from '../../../src/starter/batch-text.js';
import { cardNumber } from '../../support/batch-files.js';
import { executedOf, startRows, type TestRow, testRows, useBatchLab } from './batches.fixture.js';

const lab = useBatchLab();
let service: PaymentService;
beforeAll(async () => {
  service = await serviceOf(lab.sandbox);
});

/** The request that the first row of a file stands for. */
const requestOf = ({ id, amount, marker }: TestRow): WithdrawRequest => ({
  order_id: id,
  currency: 'usd',
  network: 'card',
  amount,
  wallet: cardNumber(1),
  description: `[sandbox ${marker}]`,
});

/** Two rows; the first one is to have an order before the batch comes. */
function twoRows(label: string, marker: string): [earlier: TestRow, fresh: TestRow] {
  const [earlier, fresh] = testRows(label, 2, (row) => (row === 1 ? marker : ''));
  if (!earlier || !fresh) throw new Error('no rows');
  return [earlier, fresh];
}

/** An order of a Temporal that is lost, and the run that is rebuilt for it from the order list. */
async function rebuilt(row: TestRow): Promise<OrderHandle> {
  await service.createOrder('withdraw', requestOf(row));
  const [item] = (await service.orders().page({ order_ids: [row.id] })).items;
  const start = item && recoveredStart('default', item);
  if (!start) throw new Error('the order is not listed');
  await startOrder(lab.temporal.client, start.type, start.input);
  return lab.orders.order(row.id);
}

const ended = async (batch: BatchHandle) => {
  const { outcomes, report } = await batch.result();
  const rows: Record<string, string>[] = parse(await readFile(join(lab.folder, report?.path ?? '')), { columns: true });
  const { attention } = await batch.state();
  return { outcomes, attention, reported: rows.map(({ outcome, reason }) => [outcome, reason]) };
};

const only = (outcomes: Partial<BatchOutcomes>): BatchOutcomes => ({ ...NONE_ENDED, notStarted: 0, ...outcomes });

const creates = (row: TestRow): number => lab.sandbox.stats().createsByOrderId[row.id] ?? 0;

const terminate = (order: OrderHandle) =>
  lab.temporal.client.workflow.getHandle(order.workflowId).terminate('by a person');

const run = (rows: readonly TestRow[], options?: Partial<BatchInput>) => startRows(lab, rows, options).then(ended);

it('a batch of rows that another one paid says that it paid nothing, and what they paid', async () => {
  const rows = testRows('paid', 3);
  const { moved, before } = await (await startRows(lab, rows.slice(0, 2))).result();
  expect(before).toBeUndefined();
  const result = await (await startRows(lab, rows)).result();
  expect(result).toMatchObject({ started: 3, outcomes: only({ completed: 3 }), before: { rows: 2, moved } });
  expect(executedOf(lab, rows)).toBe(3);
  const [, now] = /^paid +(.*)$/m.exec(batchResultText(result)) ?? [];
  expect(now).toBe('12.5 usd');
  const { batchId } = result;
  const again = await (await startRows(lab, rows, { batchId, again: true })).result();
  expect(batchResultText(again)).toMatch(/^paid +nothing$/m);
  expect(batchResultText(again)).toMatch(/^before +3 rows had an order already; paid by those: [\d.]+ usd$/m);
}, 60_000);

describe.concurrent('a row whose id has an order that was rebuilt from the list', () => {
  it('attaches to it and is never sent again', async () => {
    const rows = twoRows('rebuilt', 'after_ms=1500');
    await rebuilt(rows[0]);
    expect(await run(rows)).toMatchObject({ outcomes: only({ completed: 2 }), attention: undefined });
    expect([executedOf(lab, rows), creates(rows[0])]).toEqual([2, 1]);
  });

  it('is a conflict where the order differs from the row', async () => {
    const [earlier, fresh] = twoRows('differing', 'after_ms=1500');
    await (await rebuilt({ ...earlier, amount: '99' })).created();
    const { outcomes, reported } = await run([earlier, fresh]);
    expect(outcomes).toEqual(only({ completed: 1, conflict: 1 }));
    expect(reported[0]).toEqual(['conflict', expect.stringContaining('amount')]);
    expect(creates(earlier)).toBe(1);
  });

  it('is parked and asks for attention where the run was terminated, too', async () => {
    const rows = twoRows('rebuilt-ended', 'after_ms=60000');
    const order = await rebuilt(rows[0]);
    await order.created();
    await terminate(order);
    const { outcomes, attention, reported } = await run(rows);
    expect(outcomes).toEqual(only({ completed: 1, parked: 1 }));
    expect(attention).toMatch(new RegExp(`^row 1 \\(${rows[0].id}\\): .*terminated.*; the order may exist`));
    expect(reported[0]?.[0]).toBe('unresolved');
    expect(creates(rows[0])).toBe(1);
  });
});

describe.concurrent('a row whose id has an order of before', () => {
  it('that is parked: counts as parked, and the order asks for attention, not the batch', async () => {
    const rows = twoRows('parked', 'create=500-before times=all');
    const order = await lab.orders.start('withdraw', { order: requestOf(rows[0]), resend: 'never' });
    await vi.waitFor(async () => expect((await order.state()).phase).toBe('parked'), { timeout: 60_000 });
    const { outcomes, attention, reported } = await run(rows, { resend: 'never' });
    expect(outcomes).toEqual(only({ completed: 1, parked: 1 }));
    expect(attention).toBeUndefined();
    expect(reported[0]).toEqual(['parked', expect.stringContaining('no such order')]);
    expect(executedOf(lab, rows)).toBe(1);
    expect(await order.isOpen()).toBe(true);
  });

  it.for([{}, { again: true }])(
    'that was terminated: counts as parked, the batch asks for attention, and nothing is sent for it: %j',
    async (options) => {
      const rows = twoRows('ended', 'after_ms=60000');
      const order = await lab.orders.start('withdraw', { order: requestOf(rows[0]) });
      await order.created();
      await terminate(order);
      const { outcomes, attention, reported } = await run(rows, options);
      expect(outcomes).toEqual(only({ completed: 1, parked: 1 }));
      expect(attention).toMatch(/^row 1 .*its workflow was terminated; the order may exist/);
      expect(reported[0]).toEqual(['unresolved', expect.stringContaining('without a verdict')]);
      expect(creates(rows[0])).toBe(1);
    },
  );
});
