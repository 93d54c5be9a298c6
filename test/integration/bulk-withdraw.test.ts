import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BatchHandle } from '../../src/client/batch-handle.js';
import { startBatch } from '../../src/client/start-batch.js';
import type { BatchResult } from '../../src/contract/batches.js';
import { orderWorkflowId } from '../../src/contract/ids.js';
import { searchAttribute } from '../../src/contract/search-attributes.js';
import { cardNumber } from '../support/batch-files.js';
import { orderInput } from '../support/inputs.js';
import { runSizes } from './fixtures/batch-history.js';
import {
  type BatchLab,
  executedOf,
  openBatchLab,
  startRows,
  type TestRow,
  testRows,
  untilState,
} from './fixtures/batches.js';

let lab: BatchLab;
beforeAll(async () => {
  lab = await openBatchLab();
});
afterAll(() => lab?.close());

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

function tooMany(error: Error): void {
  expect(error.message).toMatch(/too many requests|paused already|not paused/);
}

describe.concurrent('a batch', () => {
  test('of inline rows is sent like that of a file', async () => {
    const rows = testRows('inline', 5);
    const inline = rows.map(({ id, amount }, index) => ({
      order_id: id,
      currency: 'usd',
      network: 'card',
      amount,
      wallet: cardNumber(index + 1),
    }));
    const batch = await startBatch(lab.temporal.client, { batchId: 'inline', rows: inline, startedBy: 'ann' });
    expect((await batch.result()).outcomes).toMatchObject({ completed: 5, notStarted: 0 });
    expect(executedOf(lab, rows)).toBe(5);
  });

  test('that lives long goes on in a new run before 500 events, with its state, answering updates', async () => {
    const { client } = lab.temporal;
    const batch = await startRows(lab, testRows('long', 30), { maxInFlight: 1 });
    const { runId } = await describeWorkflow(batch.workflowId);
    for (let cycle = 0; (await describeWorkflow(batch.workflowId)).runId === runId && cycle < 300; cycle += 1) {
      // Refused where too many come at once, which keeps the history short.
      await batch.pause({ by: 'bob', reason: `pause ${cycle}` }).catch(tooMany);
      await batch.resume({ by: 'bob', reason: `resume ${cycle}` }).catch(tooMany);
    }
    const { plan, sendingSince } = await untilState(batch, ({ phase }) => phase === 'sending');
    expect(plan?.rows).toBe(30);
    expect(sendingSince).toBeDefined();
    await batch.stop({ by: 'bob', reason: 'long enough' });
    await batch.result();
    const sizes = await runSizes(client, batch.workflowId);
    expect(sizes.length).toBeGreaterThan(1);
    for (const { events, largestPayload } of sizes) {
      expect(events).toBeLessThanOrEqual(500);
      expect(largestPayload).toBeLessThan(100_000);
    }
  });
});

/** [what, workflow id, input as anybody may send it, the field that the failure names] */
const GARBAGE: [string, string, unknown, string][] = [
  ['nothing at all', 'bulk:default:g-nothing', undefined, 'input'],
  ['a text', 'bulk:default:g-text', 'garbage', 'input'],
  [
    'nested too deeply',
    'bulk:default:g-deep',
    { batchId: 'g-deep', rows: JSON.parse(`${'['.repeat(99)}${']'.repeat(99)}`) },
    'input',
  ],
  ['an account as number', 'bulk:default:g-account', { account: 7, batchId: 'g-account' }, 'account'],
  ['no batch id', 'bulk:default:g-id', { startedBy: 'ann' }, 'batchId'],
  ['another workflow id', 'bulk:default:g-other', { batchId: 'g-another' }, 'batchId'],
  ['a plan under the id of a batch', 'bulk:default:g-plan', { batchId: 'g-plan', planOnly: true }, 'planOnly'],
  ['neither file nor rows', 'bulk:default:g-neither', { batchId: 'g-neither', startedBy: 'ann' }, 'file'],
  [
    'an unknown field',
    'bulk:default:g-field',
    { batchId: 'g-field', startedBy: 'ann', file: { path: 'x.csv' }, aproval: 'required' },
    'aproval',
  ],
  ['too long for the history', 'bulk:default:g-long', { batchId: 'g-long', rows: ['x'.repeat(50_000)] }, 'rows'],
];

describe('garbage started without our client', () => {
  beforeAll(() =>
    Promise.all(
      GARBAGE.map(([, workflowId, input]) =>
        lab.temporal.client.workflow.start('bulkWithdraw', { workflowId, taskQueue: 'payment-orders', args: [input] }),
      ),
    ),
  );

  test.for(GARBAGE)('%s fails as InvalidInput that names the field', async ([, workflowId, , field]) => {
    const handle = lab.temporal.client.workflow.getHandle(workflowId);
    const error = await handle.result().catch(({ cause }: { cause: unknown }) => cause);
    expect(error).toMatchObject({ type: 'InvalidInput', nonRetryable: true });
    const [errors] = (error as ApplicationFailure).details as { field: string }[][];
    expect(errors?.map((bad) => bad.field)).toContain(field);
    const { events } = await handle.fetchHistory();
    expect(events?.filter((event) => event.workflowTaskFailedEventAttributes)).toEqual([]);
  });
});
