import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { PaymentOrders } from '../../../src/client.js';
import type { BatchResult, BatchState } from '../../../src/contract/batch/batch.js';
import { orderWorkflowId } from '../../../src/contract/names.js';
import type { WithdrawRequest } from '../../../src/contract/order/request.js';
import { dataConverter } from '../../../src/temporal.js';
import { cardNumber } from '../../support/batch-files.js';
import { keyOf } from '../../temporal/stored-bytes.fixture.js';
import { executedOf, startRows, type TestRow, testRows, useBatchLab } from './batches.fixture.js';

const [ours, others] = [keyOf('ours'), keyOf('others')];

const MARKERS = ['', 'create=400 times=all', '', ''];

const lab = useBatchLab({ workers: false, encryptionKeys: [ours] });
let rows: TestRow[];
beforeAll(() => {
  rows = testRows('sealed', MARKERS.length, (row) => MARKERS[row - 1]);
});

const requestOf = ({ id, amount, marker }: TestRow, index: number): WithdrawRequest => ({
  order_id: id,
  currency: 'usd',
  network: 'card',
  amount,
  wallet: cardNumber(index + 1),
  ...(marker && { description: `[sandbox ${marker}]` }),
});

/** Lets workers that write with another key end the first rows' orders, of which the third was started with it, too. */
async function endUnderOtherKey(): Promise<void> {
  const { connection, namespace } = lab.temporal.client.options;
  const elsewhere = new Client({ connection, namespace, dataConverter: dataConverter({ encryptionKeys: [others] }) });
  const clients = [lab.orders, lab.orders, new PaymentOrders(elsewhere)];
  await lab.startWorkers({ encryptionKeys: [others, ours] });
  for (const [index, orders] of clients.entries()) {
    const row = rows[index];
    if (row) await orders.start('withdraw', { order: requestOf(row, index) });
  }
  const closed = async () => {
    for (const { id } of rows.slice(0, clients.length)) {
      const { status } = await lab.temporal.client.workflow.getHandle(orderWorkflowId('default', id)).describe();
      expect(status.name).not.toBe('RUNNING');
    }
  };
  await vi.waitFor(closed, { timeout: 60_000, interval: 200 });
  await lab.stopWorkers();
}

describe('a batch whose rows have orders that ended under a key its workers lack', () => {
  let result: BatchResult;
  let state: BatchState;
  beforeAll(async () => {
    await endUnderOtherKey();
    await lab.startWorkers({ directories: { batchDir: lab.folder, reportDir: lab.folder } });
    const batch = await startRows(lab, rows);
    result = await batch.result({ timeoutMs: 60_000 });
    state = await batch.state();
  });

  test('ends: what cannot be read is parked, what never came to an order is refused, and the others are paid', () => {
    expect(result.outcomes).toMatchObject({ completed: 1, refused: 1, parked: 2, notStarted: 0 });
    expect(executedOf(lab, rows)).toBe(3);
    expect(Math.max(...Object.values(lab.sandbox.stats().executedByOrderId))).toBe(1);
  });

  test('asks for a person and says which key is missing', () => {
    expect(state.attention).toMatch(/^row [13] .*cannot be read \(payload encrypted with key others: not in PAYLOAD_/);
  });

  test('has a report that says so of each row', async () => {
    const written = await readFile(join(lab.folder, result.report?.path ?? ''));
    const reported: Record<string, string>[] = parse(written, { columns: true });
    const sealed = expect.stringContaining('payload encrypted with key others');
    expect(reported.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['unresolved', sealed],
      ['refused', sealed],
      ['unresolved', sealed],
      ['completed', ''],
    ]);
  });
});
