import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Big from 'big.js';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { linesOf } from '../../src/client/books/order-lines.js';
import type { BookItem } from '../../src/contract/books/book.js';
import { newFolder } from '../support/batch-files.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { runStarterWith } from '../support/run-starter.js';
import { type BatchLab, openBatchLab, startRows, testRows } from '../workflows/batch/batches.fixture.js';
import { decideNow, parkedFor } from '../workflows/compensation/parked-orders.fixture.js';
import { bookOf } from './books.fixture.js';

const DAY_MS = 86_400_000;
const midnightMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const PAST = 40;

let lab: BatchLab;
let auditDir: string;
beforeAll(async () => {
  auditDir = newFolder(() => undefined);
  lab = await openBatchLab({ workers: false, limits: { auditDir } });
  // Around the midnight before yesterday, while nothing else has happened.
  const middleMs = midnightMs - DAY_MS;
  lab.sandbox.addPast({ count: PAST, fromMs: middleMs - 3_600_000, toMs: middleMs + 3_600_000 });
  await lab.startWorkers({ directories: { batchDir: lab.folder, reportDir: lab.folder } });
});
afterAll(() => lab?.close());

const export_ = (input: object) => bookOf(lab.orders.export(input));
const total = (sums: { currency: string; total: string }[]) => sums.find(({ currency }) => currency === 'usd')?.total;

test('an order stands in the book of the day it ended, and the days continue each other', async () => {
  // Shows how far the service's clock is, also soon after midnight.
  await (await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('now')))).result();
  const [first, second] = [dayOf(midnightMs - 2 * DAY_MS), dayOf(midnightMs - DAY_MS)];
  const [one, two] = [await export_({ day: first }), await export_({ day: second })];
  const both = await export_({ from: first, to: dayOf(midnightMs) });
  for (const book of [one, two, both]) expect(book.end).toMatchObject({ missing: 0, differences: 0, parts: 0 });
  expect(one.end.orders + two.end.orders).toBe(PAST);
  expect(both.end.orders).toBe(PAST);
  const created = one.orders.concat(two.orders).filter(({ created_at: at }) => at.startsWith(first));
  // Some ended after midnight.
  expect(created.length).toBeGreaterThan(one.end.orders);
  expect(one.orders.every(({ finalized_at: at }) => at?.startsWith(first))).toBe(true);
  expect(two.sums[0]?.opening).toBe(one.sums[0]?.closing);
  expect(new Big(total(one.sums) ?? 0).plus(total(two.sums) ?? 0).toFixed()).toBe(total(both.sums));

  const result = await lab.orders.reconcile();
  expect(result.book?.path).toBe(`book-default-${second}.csv`);
  const rows = parse(await readFile(join(lab.folder, result.book?.path ?? '')), { columns: true });
  expect(rows).toHaveLength(two.all.length);
});

test('a payout that comes back has a line of its own, and a person closes its attention', async () => {
  const orderId = newOrderId('back');
  const { order } = await (await lab.orders.start('withdraw', orderInput('withdraw', orderId))).result();
  const paid = order.amount_to ?? '';
  // The service writes whole seconds.
  await sleep(1_100);
  lab.sandbox.giveBack(order.order_uuid);
  expect(await lab.sandbox.sendCallback(order.order_uuid)).toBe(200);
  const look = lab.orders.order(orderId, { afterEnd: true });
  const { workflowId } = look;
  expect((await parkedFor(look, 'now the service shows')).attention).toMatchObject({ code: 'changed-after-end' });
  await decideNow(look, 'accept');
  await expect.poll(async () => (await look.state()).phase, { timeout: 60_000 }).toBe('done');
  const files = await Promise.all((await readdir(auditDir)).map((name) => readFile(join(auditDir, name), 'utf8')));
  const decided = files
    .join('')
    .split('\n')
    .filter((line) => line.includes(workflowId) && line.includes('"decide"'));
  expect(decided).toHaveLength(1);
  expect(decided[0]).toMatch(/"by":"\w+.*"reason":"\w+/);

  await expect
    .poll(
      async () => {
        const { orders, end } = await export_({ day: dayOf(Date.now()) });
        const own = orders.filter(({ order_id: id }) => id === orderId);
        return [
          own.map(({ kind, amount_to, difference, balance_changes: changes }) => {
            return { kind, amount_to, difference, changes: changes.map(({ amount_change: amount }) => amount) };
          }),
          end.differences,
        ];
      },
      { timeout: 60_000, interval: 1_000 },
    )
    .toEqual([
      [
        { kind: 'order', amount_to: paid, difference: undefined, changes: expect.any(Array) },
        { kind: 'late', amount_to: '0', difference: { amount_to: `-${paid}` }, changes: [paid] },
      ],
      0,
    ]);
});

test('money that comes back without a changed amount asks a person, too', async () => {
  const orderId = newOrderId('silent');
  const { order } = await (await lab.orders.start('withdraw', orderInput('withdraw', orderId))).result();
  lab.sandbox.giveBack(order.order_uuid, false);
  expect(await lab.sandbox.sendCallback(order.order_uuid)).toBe(200);
  const look = lab.orders.order(orderId, { afterEnd: true });
  const { attention } = await parkedFor(look, 'now the service shows');
  expect(attention).toMatchObject({ code: 'changed-after-end' });
  expect(attention?.reason).toContain('completed, but its balance changes are');
  await decideNow(look, 'accept');
});

test('money outside of orders, and an order that the service hides, are named', async () => {
  const orderId = newOrderId('hidden');
  const { order } = await (await lab.orders.start('withdraw', orderInput('withdraw', orderId))).result();
  const hidden = lab.sandbox.removeOrder(order.order_uuid).balance_changes;
  const moved = hidden.reduce((sum, { amount_change: amount }) => sum.plus(amount), new Big(0));
  const before = new Big(lab.sandbox.ledger().usd ?? 0);
  lab.sandbox.set({ balances: { usd: before.plus('0.01').toFixed() } });
  const argv = ['order', 'export', '--from', dayOf(midnightMs), '--ndjson'];
  const ended = await expect.poll(
    async () => {
      const run = await runStarterWith(async () => lab.orders, argv);
      const lines = run.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      return {
        ...run,
        missing: lines.filter(({ kind }) => kind === 'missing'),
        sums: lines.filter(({ kind }) => kind === 'sum'),
      };
    },
    { timeout: 60_000, interval: 1_000 },
  );
  const difference = moved.plus('0.01').toFixed();
  await ended.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`1 missing`),
    missing: [{ order_id: orderId, order_uuid: order.order_uuid, reason: expect.stringContaining('ask the service') }],
    sums: [{ currency: 'usd', difference, current: true, closing: before.plus('0.01').toFixed() }],
  });
});

test('the rows of a batch are a table, or NDJSON', async () => {
  const batch = await startRows(
    lab,
    testRows('table', 3, (row) => (row === 2 ? 'outcome=error' : undefined)),
  );
  await batch.result();
  const run = (...options: string[]) =>
    runStarterWith(async () => lab.orders, ['batch', 'rows', batch.batchId, ...options]);
  await expect
    .poll(async () => (await run()).stdout, { timeout: 60_000 })
    .toMatch(/row +orderId.*\n1 +table.* completed .*\n2 +table.* error .*\n3 /);
  const lines = (await run('--ndjson')).stdout.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).row)).toEqual([1, 2, 3]);
});

const item = (change: Partial<BookItem>): BookItem =>
  ({
    ...{ order_uuid: 'u', user_order_id: 'o', order_type: 'exchange', status: 'completed', currency_from: 'usd' },
    ...{ currency_to: 'btc', created_at: '2026-11-25 23:00:00', finalized_at: '2026-11-26 01:00:00', updated_at: '' },
    balance_changes: [],
    ...change,
  }) as unknown as BookItem;

test.for([
  ['ended in the period', {}, ['order']],
  ['ended after it', { finalized_at: '2026-11-27 00:00:00' }, []],
  ['ended at its first second', { finalized_at: '2026-11-26 00:00:00' }, ['order']],
  ['is open, and was created before', { status: 'new', finalized_at: null }, []],
  [
    'is open, and was created in it',
    { status: 'new', finalized_at: null, created_at: '2026-11-26 10:00:00' },
    ['open'],
  ],
  [
    'moved money in it, and ended after it',
    { finalized_at: '2026-11-27 00:00:00', at: '2026-11-26 12:00:00' },
    ['part'],
  ],
  ['moved money after its end', { at: '2026-11-26 12:00:00' }, ['order', 'late']],
  [
    'moved money after its end, before it',
    { finalized_at: '2026-11-25 23:30:00', at: '2026-11-26 12:00:00' },
    ['late'],
  ],
] as const)(
  'an order that %s',
  ([, { at, ...change }, kinds]: readonly [string, Partial<BookItem> & { at?: string }, readonly string[]]) => {
    const changes = at
      ? [{ currency: 'usd', amount_before: '0', amount_change: '1', amount_after: '1', created_at: at }]
      : [];
    const lines = linesOf(
      item({ ...change, balance_changes: changes }),
      { from: '2026-11-26 00:00:00', to: '2026-11-27 00:00:00' },
      {
        ...{ account: 'default', entry: undefined, changed: undefined, followUps: [] },
      },
    );
    expect(lines.map(({ kind }) => kind)).toEqual(kinds);
  },
);
