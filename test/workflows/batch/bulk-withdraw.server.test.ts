import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { BatchHandle } from '../../../src/client/batch/batch-handle.js';
import type { BatchResult } from '../../../src/contract/batch/batch.js';
import { orderWorkflowId, searchAttribute } from '../../../src/contract/names.js';
import { cardNumber } from '../../support/batch-files.js';
import { orderInput } from '../../support/inputs.js';
import { executedOf, startRows, type TestRow, testRows, useBatchLab } from './batches.fixture.js';

const lab = useBatchLab();

const describeWorkflow = (workflowId: string) => lab.temporal.client.workflow.getHandle(workflowId).describe();

/** Every way a row can end. */
const FATES: Record<number, string> = {
  3: 'outcome=completed_partially fraction=0.4',
  7: 'outcome=canceled',
  11: 'outcome=error',
  15: 'create=400',
  19: 'create=503-before times=9',
  23: 'create=502-after',
};
const ROWS = 60;
const CONFLICT = 27;
const STARTED_BEFORE = 31;
const EXECUTED = ROWS - 3;
const OPTIONS = { compensation: 'report', maxInFlight: 50 } as const;

describe('a batch in which every way to end occurs', () => {
  let rows: TestRow[];
  let batch: BatchHandle;
  let result: BatchResult;
  beforeAll(async () => {
    rows = testRows('fate', ROWS, (row) => FATES[row]);
    const single = (row: number, amount: string) => {
      const { order } = orderInput('withdraw', rows[row - 1]?.id ?? '');
      return { order: { ...order, amount, wallet: cardNumber(row) }, compensation: 'report' } as const;
    };
    await lab.orders.start('withdraw', single(CONFLICT, '99'));
    await lab.orders.start('withdraw', single(STARTED_BEFORE, '12.5'));
    batch = await startRows(lab, rows, OPTIONS);
    result = await batch.result();
  });

  test('counts each row once, and ends although one is parked', () => {
    const others = { completed_partially: 1, canceled: 1, error: 1, refused: 1, conflict: 1, parked: 1 };
    expect(result.outcomes).toEqual({ completed: 54, ...others, notStarted: 0 });
    expect(result).toMatchObject({
      batchId: batch.batchId,
      rows: ROWS,
      plan: { rows: ROWS },
      digest: result.plan.digest,
    });
  });

  test('sends every row once, and nothing for the row whose id another order has', () => {
    const { executedByOrderId } = lab.sandbox.stats();
    expect(executedOf(lab, rows)).toBe(EXECUTED + 1);
    expect(Object.values(executedByOrderId).every((times) => times === 1)).toBe(true);
    const conflicting = lab.requestsOf(rows[CONFLICT - 1]?.id ?? '').filter((path) => path === '/v2/order/withdraw');
    expect(conflicting).toHaveLength(1);
  });

  test('its report is on disk with the hash it tells', async () => {
    const text = await readFile(join(lab.folder, result.report?.path ?? ''));
    expect(createHash('sha256').update(text).digest('hex')).toBe(result.report?.sha256);
  });

  test('its progress came to the same counts as the report', async () => {
    const { phase, progress } = await batch.state();
    const { notStarted, ...outcomes } = result.outcomes;
    expect({ phase, outcomes: progress.outcomes, moved: progress.moved }).toMatchObject({ phase: 'done', outcomes });
    // The report knows the amount of the order that the conflicting row met; the batch never followed it.
    expect(Object.keys(progress.moved)).toEqual(Object.keys(result.moved));
  });

  test('its orders carry the batch id and run behind single ones', async () => {
    const order = await describeWorkflow(orderWorkflowId('default', rows[0]?.id ?? ''));
    expect(order.typedSearchAttributes.get(searchAttribute.batchId)).toBe(batch.batchId);
    expect(order.priority?.priorityKey).toBe(4);
    const single = await describeWorkflow(orderWorkflowId('default', rows[STARTED_BEFORE - 1]?.id ?? ''));
    expect(single.priority?.priorityKey).toBe(2);
  });

  describe('started again', () => {
    let others: BatchResult[];
    beforeAll(async () => {
      const same = await startRows(lab, rows, { ...OPTIONS, batchId: batch.batchId });
      const renamed = await startRows(lab, rows, OPTIONS);
      others = await Promise.all([same, renamed].map((one) => one.result()));
    });

    test('executes nothing, under its own id and under another one', () => {
      expect(executedOf(lab, rows)).toBe(EXECUTED + 1);
    });

    test('shows the ends of the first orders', () => {
      for (const other of others) expect(other.outcomes).toEqual(result.outcomes);
    });
  });

  test('started with `again` sends only the mended rows that have no order', async () => {
    const mended = rows.map((row) => ({ ...row, marker: row.marker === 'create=400' ? '' : row.marker }));
    const again = await startRows(lab, mended, { ...OPTIONS, batchId: batch.batchId, again: true });
    const { outcomes } = await again.result();
    expect(outcomes).toEqual({ ...result.outcomes, completed: result.outcomes.completed + 1, refused: 0 });
    expect(executedOf(lab, rows)).toBe(EXECUTED + 2);
  });
});
