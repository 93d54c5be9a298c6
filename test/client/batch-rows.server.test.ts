import { createSecretKey, hash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { BatchHandle } from '../../src/client/batch/batch-handle.js';
import type { BatchRowEntry, BatchRowFilter } from '../../src/client/batch/batch-rows.js';
import { InvalidInputError } from '../../src/client/errors.js';
import { cardNumber } from '../support/batch-files.js';
import { newOrderId } from '../support/lab.js';
import { openBatchLab, untilPhase, untilState, useBatchLab } from '../workflows/batch/batches.fixture.js';

/** So few rows of this size are uploaded: 50,000 bytes are the limit. */
const ROWS = 90;
const WIDE = { description: 'ж'.repeat(250) };

const lab = useBatchLab();

/** Rows as a backend makes them. */
const payouts = (label: string, count: number, change: (row: number) => object = () => ({})) => {
  const run = newOrderId(label);
  return Array.from({ length: count }, (_, index) => ({
    ...{ order_id: `${run}-${index + 1}`, currency: 'usd', network: 'card', amount: '12.50' },
    wallet: cardNumber(index + 1),
    ...WIDE,
    ...change(index + 1),
  }));
};

async function allRows(batch: BatchHandle, filter?: BatchRowFilter): Promise<BatchRowEntry[]> {
  const found = [];
  for await (const row of batch.allRows(filter)) found.push(row);
  return found;
}

const never = (): never => {
  throw new Error('there is one row');
};

const uploads = () => readdir(join(lab.folder, 'uploads', 'default'));

test(`${ROWS} rows from code are planned, paid once each, listed and reported`, async () => {
  const rows = payouts('many', ROWS, (row) => (row === 1 ? { reference: 'INV-7' } : {}));
  const input = { rows, startedBy: 'ann', maxInFlight: 30 };
  const plan = await lab.orders.batches.plan(input);
  expect(plan).toMatchObject({ rows: ROWS, currencies: [{ currency: 'usd', total: '1125' }] });
  const batchId = newOrderId('many');
  const batch = await lab.orders.batches.start({ ...input, batchId, approval: 'required' });
  await untilPhase(batch, 'awaitingApproval');
  expect((await allRows(batch)).map(({ state }) => state)).toEqual(rows.map(() => 'notStarted'));
  expect(await allRows(batch, { cursor: '88', limit: 1 })).toMatchObject([{ row: 89 }, { row: 90 }]);
  await batch.approve({ digest: (await batch.state()).plan?.digest ?? '', by: 'bob' });
  await untilState(batch, ({ progress }) => progress.started > 20);
  const during = await allRows(batch, { limit: 40 });
  expect(during.map(({ row, orderId }) => [row, orderId])).toEqual(rows.map((row, at) => [at + 1, row.order_id]));
  expect(new Set(during.map(({ state }) => state))).toContain('notStarted');
  const result = await batch.result();
  expect(result.outcomes).toMatchObject({ completed: ROWS });
  const { executedByOrderId } = lab.sandbox.stats();
  expect(rows.filter((row) => executedByOrderId[row.order_id] !== 1)).toEqual([]);
  // Visibility is behind by a moment.
  await expect
    .poll(async () => new Set((await allRows(batch, { limit: 500 })).map(({ state }) => state)), { timeout: 60_000 })
    .toEqual(new Set(['completed']));
  const [first] = (await batch.rows({ limit: 1 })).rows;
  expect(first).toEqual({
    ...{ row: 1, orderId: rows[0]?.order_id, reference: 'INV-7', state: 'completed', needsAttention: false },
    ...{ batchId, closedAt: expect.any(Date) },
  });
  expect(JSON.stringify(await batch.rows({ limit: 500 }))).not.toContain(cardNumber(1));
  const report = await batch.report();
  expect(report).toEqual(await readFile(join(lab.folder, result.report?.path ?? '')));
  expect(hash('sha256', report ?? '')).toBe(result.report?.sha256);
  expect(await batch.report({ rejected: true })).toBeUndefined();

  const same = { ...input, batchId, approval: 'required' } as const;
  expect(await lab.orders.batches.start(same)).toMatchObject({ attached: true });
  const mixed = rows.map((row) => Object.fromEntries(Object.entries(row).toReversed()));
  expect(await lab.orders.batches.start({ ...same, rows: mixed as typeof rows })).toMatchObject({ attached: true });
  const other = { ...same, rows: rows.map((row, at) => (at === 70 ? { ...row, amount: '13' } : row)) };
  const conflict = { kind: 'conflict', fields: ['rows'], message: expect.stringContaining('with different rows') };
  for (const start of [other, { ...same, rows: rows.slice(0, 1) }]) {
    await expect(lab.orders.batches.start(start)).rejects.toMatchObject(conflict);
  }
  const file = await lab.orders.batches.upload(Buffer.from(JSON.stringify(rows[0])), { format: 'ndjson' });
  const byFile = lab.orders.batches.start({ ...same, rows: undefined, file });
  await expect(byFile).rejects.toMatchObject({ kind: 'conflict', fields: ['file.sha256'] });
});

test('bad rows are named by their numbers, and nothing is uploaded', async () => {
  const before = await uploads().catch(() => []);
  const rows = payouts('bad', ROWS, (row) => (row === 7 || row === 80 ? { amount: '1,5' } : {}));
  const refused = lab.orders.batches.start({ rows, startedBy: 'ann', batchId: newOrderId('bad') });
  await expect(refused).rejects.toMatchObject({
    name: 'InvalidInputError',
    fields: [{ field: 'rows[6].amount' }, { field: 'rows[79].amount' }],
  });
  expect(await uploads().catch(() => [])).toEqual(before);
});

test('rows beyond a batch file are refused before anything is sent', async () => {
  const { batches } = lab.orders;
  const rows = Array.from({ length: 100_001 }, () => payouts('large', 1)[0] ?? never());
  await expect(batches.plan({ rows, startedBy: 'ann' })).rejects.toThrow(/rows: are more than 100000/);
  const large = batches.upload(Buffer.alloc(32 * 1024 * 1024 + 1), { format: 'csv' });
  await expect(large).rejects.toThrow(/rows: must have .* 32 MiB/);
});

test('inline rows are listed, with the batch that started their orders; one that sent nothing has no report', async () => {
  const taken = payouts('taken', 1);
  await (await lab.orders.batches.start({ rows: taken, startedBy: 'ann' })).result();
  const batchId = newOrderId('stopped');
  const rows = [...taken, ...payouts('stopped', 2)];
  const start = { rows, startedBy: 'ann', batchId, approval: 'required', maxInFlight: 1 } as const;
  const batch = await lab.orders.batches.start(start);
  expect((await batch.rows()).rows).toHaveLength(3);
  await expect(batch.report()).rejects.toMatchObject({ kind: 'notDecidedYet' });
  await untilPhase(batch, 'awaitingApproval');
  await batch.stop({ by: 'bob', reason: 'enough' });
  await batch.result();
  const page = await batch.rows();
  expect(page.rows.map(({ state }) => state)).toEqual(['completed', 'notStarted', 'notStarted']);
  // It belongs to the earlier batch.
  expect(page.rows[0]?.batchId).not.toBe(batchId);
  expect(await batch.report()).toBeUndefined();
  for (const filter of [{ cursor: 'x' }, { limit: 501 }, { limit: 0 }]) {
    await expect(batch.rows(filter)).rejects.toBeInstanceOf(InvalidInputError);
  }
  await expect(lab.orders.batches.handle('never-seen').rows()).rejects.toMatchObject({ kind: 'unknown' });
});

test('a report that was replaced since is not taken for that of the batch', async () => {
  const batch = await lab.orders.batches.start({ rows: payouts('replaced', 1), startedBy: 'ann' });
  const { report } = await batch.result();
  await writeFile(join(lab.folder, report?.path ?? ''), 'another');
  await expect(batch.report()).rejects.toMatchObject({ kind: 'failed', type: 'BatchFileUnusable' });
});

test('a file is uploaded as it is, once', async () => {
  const csv = Buffer.from(
    ['order_id,currency,network,amount,wallet', `${newOrderId('csv')},usd,card,12.50,${cardNumber(1)}`, ''].join('\n'),
  );
  const file = await lab.orders.batches.upload(csv, { format: 'csv' });
  expect(file).toEqual({ path: `uploads/default/${file.sha256}.csv`, sha256: hash('sha256', csv) });
  expect(await lab.orders.batches.upload(csv, { format: 'csv' })).toEqual(file);
  const batch = await lab.orders.batches.start({ file, startedBy: 'ann' });
  expect(await batch.result()).toMatchObject({ outcomes: { completed: 1 } });
});

test('without BATCH_DIR, many rows are refused by the name of the field', async () => {
  const other = await openBatchLab({ workers: false });
  try {
    await other.startWorkers();
    const plan = other.orders.batches.plan({ rows: payouts('nowhere', ROWS), startedBy: 'ann' });
    await expect(plan).rejects.toMatchObject({ kind: 'invalidInput', fields: [{ field: 'rows' }] });
  } finally {
    await other.close();
  }
});

test('where payloads must be encrypted, uploads and reports are, in every history', async () => {
  const key = { id: 'k-1', key: createSecretKey(Buffer.alloc(32, 7)) };
  const other = await openBatchLab({ encryptionKeys: [key], encryptionRequired: true });
  try {
    const rows = payouts('secret', ROWS);
    const batch = await other.orders.batches.start({ rows, startedBy: 'ann', approval: 'required', maxInFlight: 5 });
    const { plan } = await untilPhase(batch, 'awaitingApproval');
    expect((await batch.rows({ limit: 500 })).rows).toHaveLength(ROWS);
    await batch.approve({ digest: plan?.digest ?? '', by: 'bob' });
    await untilState(batch, ({ progress }) => progress.started > 0);
    await batch.stop({ by: 'bob', reason: 'enough' });
    await batch.result();
    expect(String(await batch.report())).toContain(rows.at(-1)?.order_id);
    expect(String(await batch.report({ rejected: true }))).toContain(cardNumber(ROWS));
    const { client } = other.temporal;
    for await (const { workflowId } of client.workflow.list({ query: "WorkflowType = 'batchFiles'" })) {
      const { history } = await client.workflowService.getWorkflowExecutionHistory({
        namespace: client.options.namespace,
        execution: { workflowId },
      });
      expect(JSON.stringify(history)).not.toContain(rows[0]?.order_id);
      const metadata = history?.events?.flatMap((event) => [
        ...(event.workflowExecutionStartedEventAttributes?.input?.payloads ?? []),
        ...(event.activityTaskScheduledEventAttributes?.input?.payloads ?? []),
        ...(event.activityTaskCompletedEventAttributes?.result?.payloads ?? []),
      ]);
      expect(metadata?.length).toBeGreaterThan(1);
      for (const payload of metadata ?? []) expect(String(payload.metadata?.encoding)).toBe('binary/encrypted');
    }
  } finally {
    await other.close();
  }
});
