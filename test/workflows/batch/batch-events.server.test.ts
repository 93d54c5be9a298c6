import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startEventReceiver } from '../../support/event-receiver.js';
import { type BatchLab, openBatchLab, startRows, testRows } from './batches.fixture.js';

let shop: Awaited<ReturnType<typeof startEventReceiver>>;
let lab: BatchLab;
beforeAll(async () => {
  shop = await startEventReceiver('shop');
  lab = await openBatchLab({ receivers: [shop.config] });
});
afterAll(async () => {
  await lab?.close();
  await shop?.close();
});

const of = (batchId: string) => shop.received.map(({ event }) => event).filter(({ data }) => data.batch_id === batchId);

const kinds = (batchId: string) => of(batchId).map(({ type }) => type);

test('a batch reports its plan, its approval, a pause and its end, in order', async () => {
  // The service pays a part of the first row.
  const partly = (row: number) => (row === 1 ? 'outcome=completed_partially' : undefined);
  const batch = await startRows(lab, testRows('event', 3, partly), {
    approval: 'required',
    compensation: 'report',
    startedBy: 'Bob Jones',
  });
  const { batchId } = batch;
  const asked = ['batch.planned', 'batch.awaits_approval'];
  await vi.waitFor(() => expect(kinds(batchId)).toEqual(asked), 60_000);
  const { plan } = await batch.state();
  await batch.approve({ digest: plan?.digest ?? '', by: 'Ann Smith' });
  const { report, moved } = await batch.result();
  await vi.waitFor(() => expect(kinds(batchId)).toEqual([...asked, 'batch.ended']), 60_000);
  const [first] = of(batchId);
  const planned = { rows: '3', currency_from: 'usd', expected_amount_from: '37.5' };
  expect(first?.data).toMatchObject({ ...planned, sequence: 1 });
  for (const { data } of of(batchId).slice(0, -1)) expect(data).not.toHaveProperty('amount_to');
  // As in an order: what was asked for, and what was paid.
  expect(Number(moved.usd)).toBeLessThan(37.5);
  expect(of(batchId).at(-1)?.data).toMatchObject({
    ...{ ...planned, outcome: 'incomplete', currency_to: 'usd', amount_to: moved.usd },
    report: report?.path,
    report_sha256: report?.sha256,
  });
  expect(report?.sha256).toMatch(/^[0-9a-f]{64}$/);
  // Its rows are orders.
  const rows = () => shop.received.filter(({ event }) => event.type === 'order.ended');
  await expect.poll(() => rows().length, { timeout: 30_000 }).toBe(3);
  const paid = rows().map(({ event }) => Number(event.data.amount_to));
  expect(paid.reduce((sum, one) => sum + one)).toBeCloseTo(Number(moved.usd), 9);
});

test('a batch that is paused, and then stopped, says so', async () => {
  const batch = await startRows(
    lab,
    testRows('slow', 3, () => 'after_ms=2000'),
    { maxInFlight: 1 },
  );
  const { batchId } = batch;
  await vi.waitFor(() => expect(kinds(batchId)).toEqual(['batch.planned']), 60_000);
  await batch.pause({ by: 'Ann Smith', reason: 'a private reason' });
  await vi.waitFor(() => expect(kinds(batchId)).toEqual(['batch.planned', 'batch.paused']), 60_000);
  await batch.stop({ by: 'Ann Smith', reason: 'not today' });
  await batch.result();
  const ended = ['batch.planned', 'batch.paused', 'batch.ended'];
  await vi.waitFor(() => expect(kinds(batchId)).toEqual(ended), 60_000);
  expect(of(batchId).at(-1)?.data).toMatchObject({ outcome: 'incomplete' });
  expect(shop.received.map(({ body }) => body).join()).not.toMatch(/Ann|private/);
});

test('a batch that is refused says so', async () => {
  const rows = testRows('refused', 2).map((row, at) => (at === 1 ? { ...row, amount: '10.123' } : row));
  const batch = await startRows(lab, rows);
  await expect(batch.result()).rejects.toMatchObject({ type: 'InvalidInput' });
  await vi.waitFor(() => expect(kinds(batch.batchId)).toEqual(['batch.ended']), 60_000);
  expect(of(batch.batchId)[0]?.data).toEqual({
    ...{ account: 'default', sequence: 1, batch_id: batch.batchId, failure: 'InvalidInput' },
  });
});
