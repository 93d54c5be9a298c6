import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { beyondPlan, countStarted, countTaken } from '../../../src/activities/batch/rows/count.js';
import type { BatchWork } from '../../../src/activities/batch/rows/start-row.js';
import { takeStarted } from '../../../src/activities/batch/rows/watch-rows.js';
import type { BatchRow } from '../../../src/batch-files/source.js';
import type { SendBatchRowsInput } from '../../../src/contract/batch/activities.js';
import { orderWorkflowId } from '../../../src/contract/names.js';
import { startAttributes, workflowTypeOf } from '../../../src/contract/order/types.js';
import { noProgress } from '../../../src/workflows/batch/rules.js';
import { type Lab, openLab } from '../../support/lab.js';

const ROWS = 12;
const TOTALS = { usd: `${10 * ROWS}` };

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ workers: false });
});
afterAll(() => lab.close());

/** A batch whose row 7 went ahead of row 5, and whose worker was lost after it had started these, too. */
async function lostAfter(mode: SendBatchRowsInput['mode'], startedSince: readonly number[]) {
  const { client } = lab.temporal;
  const batchId = `b-${randomUUID()}`;
  const orders = Array.from({ length: ROWS }, (_, n) => ({
    ...{ order_id: `${batchId}-${n + 1}`, currency: 'usd', network: 'card', amount: '10', wallet: '1' },
  }));
  const rows = orders.map((order, n): BatchRow => ({ row: n + 1, line: n + 1, text: '', order }));
  const taken = rows.filter(({ row }) => [1, 2, 3, 4, 7].includes(row));
  for (const { row, order } of rows) {
    if (!taken.some((one) => one.row === row) && !startedSince.includes(row)) continue;
    const request = order as (typeof orders)[number];
    await client.workflow.start(workflowTypeOf('withdraw'), {
      workflowId: orderWorkflowId('default', request.order_id),
      taskQueue: 'nobody',
      args: [],
      typedSearchAttributes: startAttributes('withdraw', 'default', request, { batchId }),
    });
  }
  const progress = noProgress();
  for (const { row } of taken)
    countStarted(progress, { row, orderId: `${batchId}-${row}`, standing: { kind: 'open', waits: undefined } });
  countTaken(progress, taken);
  const batch = {
    ...{ account: 'default', mode, startedAt: new Date(0).toISOString(), input: { batchId } },
    plan: { rows: ROWS, totals: TOTALS },
  } as unknown as SendBatchRowsInput;
  const work: BatchWork = { client, batch, progress };
  await takeStarted(work, rows.slice(progress.taken)[Symbol.iterator](), async () => true);
  return { progress, rows };
}

describe('rows that went ahead of others are counted once, and the others only if they were started', () => {
  test('after a stop', async () => {
    const { progress } = await lostAfter('finish', [9]);
    expect(progress).toMatchObject({ taken: 4, ahead: [7, 9], started: 6, asked: { usd: '60' }, exhausted: true });
    expect(progress.open.map(({ row }) => row).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 7, 9]);
  });

  test('after a reset, and the rest is still within the plan', async () => {
    const { progress, rows } = await lostAfter('send', [5, 6, 8, 9]);
    expect(progress).toMatchObject({ taken: 9, started: 9, asked: { usd: '90' } });
    expect(progress.ahead).toBeUndefined();
    expect(beyondPlan({ rows: ROWS, totals: TOTALS } as never, progress, rows.slice(9))).toBeUndefined();
  });
});
