import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import Big from 'big.js';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { readBookPage, writeBook } from '../../src/activities/books.js';
import { exportBook } from '../../src/client/books/export-book.js';
import { OurOrders } from '../../src/client/books/our-orders.js';
import { checkedPeriod } from '../../src/contract/books/period.js';
import { type Page, PageSizes } from '../../src/payment-service/paging.js';
import type { OrderListQuery } from '../../src/payment-service/queries.js';
import { readPage } from '../../src/payment-service/responses.js';
import { orderListItemSchema } from '../../src/payment-service/schemas.js';
import { orderObject } from '../payment-service/objects.fixture.js';
import { newFolder } from '../support/batch-files.js';
import { bookOf } from './books.fixture.js';

const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];
const BEGIN_MS = Date.UTC(2026, 9, 29);
const START = '100000';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 11, 20, 12) });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Payouts from three days before November 2026 to three days after it, in the order of their ends. */
function payouts() {
  const made = Array.from({ length: 290 }, (_, n) => {
    const createdMs = BEGIN_MS + n * 3 * HOUR_MS;
    const lastsMs = n % 29 === 0 ? 20 * HOUR_MS : ((n * 7_919) % 600) * 1_000;
    return { id: `o-${n}`, createdMs, endedMs: createdMs + lastsMs, amount: new Big(n).div(100).plus('1.01') };
  }).sort((a, b) => a.endedMs - b.endedMs);
  let balance = new Big(START);
  return made.map((one) => {
    const before = balance;
    balance = before.minus(one.amount);
    return { ...one, before: before.toFixed(), after: balance.toFixed() };
  });
}
type Payout = ReturnType<typeof payouts>[number];

/** How a service writes its dates: `face` is what its clock shows, `zone` such as `+05:30`. */
type Form = (face: string, zone: string, field: string) => string;
const face = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
const zoneOf = (minutes: number): string =>
  `${minutes < 0 ? '-' : '+'}${face(Math.abs(minutes) * MINUTE_MS).slice(11, 16)}`;

/** A service of a zone, as the worker reads it. */
function serviceIn(minutes: number, form: Form, shown: readonly Payout[] = payouts(), runs: object[] = []) {
  const faceOf = (ms: number) => face(ms + minutes * MINUTE_MS);
  const itemOf = ({ id, createdMs, endedMs, amount, before, after }: Payout) => {
    const date = (ms: number, field: string) => form(faceOf(ms), zoneOf(minutes), field);
    const usd = { currency: 'usd', amount_before: before, amount_change: amount.neg().toFixed(), amount_after: after };
    const ends = { updated_at: date(endedMs, 'updated_at'), finalized_at: date(endedMs, 'finalized_at') };
    return orderObject({
      ...{ order_uuid: `u-${id}`, user_order_id: id, order_type: 'withdraw', status: 'completed' },
      ...{ created_at: date(createdMs, 'created_at'), ...ends },
      balance_changes: [{ ...usd, created_at: date(endedMs, 'change') }],
    });
  };
  const page = async ({ date_from: from = '', date_to: to = '', limit = 100, page: number = 1 }: OrderListQuery) => {
    const all = shown.filter(({ createdMs }) => faceOf(createdMs) >= from && faceOf(createdMs) <= to);
    const data = all.slice((number - 1) * limit, number * limit).map(itemOf);
    const bytes = Buffer.from(JSON.stringify({ status: 'success', data }));
    return readPage(orderListItemSchema, bytes) as Page<never>;
  };
  const list = { page, idOf: ({ order_uuid: uuid }: { order_uuid: string }) => uuid, sizes: new PageSizes() };
  const of = ({ user_order_id: id }: { user_order_id: string }) => runs.find((run) => Object(run).orderId === id);
  const nobody = { all: () => runs, of, changeOf: () => undefined, followUpsOf: () => [] };
  const ours = { ...nobody, changed: new Map(), readMore: async () => undefined };
  return {
    ours: async () => ours as unknown as OurOrders,
    list,
    page: (query: OrderListQuery) => readBookPage(list as never, undefined, query),
    balances: async () => ({ usd: { currency: 'usd', amount: shown.at(-1)?.after ?? START, overdraft: '0' } }) as never,
  };
}

/** The book of an input, beside the truth of the ledger by the service's clock. */
async function bookAndLedger(minutes: number, form: Form, input: object, shown = payouts(), runs: object[] = []) {
  const checked = checkedPeriod(input, Date.now());
  if ('errors' in checked) throw new Error(JSON.stringify(checked.errors));
  const { fromMs, toMs } = checked.input;
  const { orders, sums, end, all } = await bookOf(exportBook(serviceIn(minutes, form, shown, runs), checked.input));
  const of = shown.filter(({ endedMs }) => {
    const ms = endedMs + minutes * MINUTE_MS;
    return ms >= fromMs && ms < toMs;
  });
  const total = of.reduce((sum, { amount }) => sum.minus(amount), new Big(0)).toFixed();
  const [opening, closing] = [of[0]?.before, of.at(-1)?.after];
  return {
    all,
    end,
    book: { ids: orders.map(({ kind, order_id: id }) => `${kind} ${id}`).sort(), sums },
    ledger: {
      ids: of.map(({ id }) => `order ${id}`).sort(),
      sums: [expect.objectContaining({ opening, total, closing, difference: '0', changes: of.length })],
    },
  };
}

const onlyAt =
  (fields: readonly string[], text: string, form: Form): Form =>
  (shown, zone, field) =>
    fields.includes(field) ? text : form(shown, zone, field);
const documented: Form = (shown) => shown;
const iso: Form = (shown) => shown.replace(' ', 'T');
const FORMS: Record<string, Form> = {
  documented,
  'ISO without a zone': iso,
  'ISO with its zone': (shown, zone) => `${iso(shown, zone, '')}${zone}`,
  'ISO with parts of seconds': (shown, zone) => `${iso(shown, zone, '')}.000000${zone.replace(':', '')}`,
  'a zero date for the end': onlyAt(['finalized_at'], '0000-00-00 00:00:00', documented),
  'a shifted zero date for the end': onlyAt(['finalized_at'], '-0001-11-30 00:00:00', documented),
  'a date of 1970 for the end': onlyAt(['finalized_at'], '1970-01-01T00:00:00Z', documented),
  'an end before the creation': onlyAt(['finalized_at'], '2019-01-01 00:00:00', documented),
};
const UNDATED: Record<string, Form> = {
  'zero dates': () => '0000-00-00 00:00:00',
  'shifted zero dates': () => '-0001-11-30 00:00:00',
  'the first year': () => '0001-01-01T00:00:00Z',
  'dates of another form': (shown) => shown.replace(/^(\d+)-(\d+)-(\d+)/, '$3.$2.$1'),
  'no dates': () => '',
  'zero dates of the end': onlyAt(['finalized_at', 'updated_at'], '0000-00-00 00:00:00', documented),
  'zero dates of balance changes': onlyAt(['change'], '0000-00-00 00:00:00', documented),
};

describe.each([330, -300, 0])('the book of a month, of a service %i min ahead of UTC', (minutes) => {
  test.each(Object.entries(FORMS))('agrees with the ledger to the last digit: %s', async (_, form) => {
    const { book, ledger, end } = await bookAndLedger(minutes, form, { month: '2026-11' });
    expect(book).toEqual(ledger);
    expect(end).toMatchObject({ missing: 0, differences: 0, late: 0, parts: 0 });
  });

  test.each(Object.entries(UNDATED))('names what it cannot date: %s', async (_, form) => {
    const { end, all, ledger } = await bookAndLedger(minutes, form, { month: '2026-11' });
    const ids = all.flatMap((line) => (line.kind === 'missing' ? [`order ${line.order_id}`] : []));
    expect(ids).toEqual(expect.arrayContaining(ledger.ids));
    expect(end).toMatchObject({ missing: ids.length, late: 0 });
  });
});

/** The payouts until now. */
const until = (nowMs: number) => {
  vi.setSystemTime(nowMs);
  return payouts().filter(({ endedMs }) => endedMs <= nowMs);
};
/** Runs of ours that followed them, each closed five seconds after its order's end. */
const runsOf = (shown: readonly Payout[]) =>
  shown.map(({ id, endedMs }) => {
    const closedAt = new Date(endedMs + 5_000);
    return { orderId: id, orderUuid: `u-${id}`, status: 'completed', startedAt: new Date(BEGIN_MS), closedAt };
  });
const NOT_OVER = { kind: 'missing', reason: expect.stringContaining('may not be over') };

describe.each([330, -300, 0])('a service %i min ahead of UTC', (minutes) => {
  const faceOf = (ms: number) => face(ms + minutes * MINUTE_MS);

  test('has a book until now, however its clock stands, and one after the other leaves nothing out', async () => {
    const shown = until(Date.UTC(2026, 10, 20, 10, 1));
    const { book, ledger, end } = await bookAndLedger(minutes, documented, { from: '2026-11-03' }, shown);
    expect(book).toEqual(ledger);
    expect(book.sums).toEqual([expect.objectContaining({ current: true })]);
    expect(end).toMatchObject({ missing: 0, differences: 0 });
    const last = Math.max(...shown.map(({ endedMs }) => endedMs));
    expect(end.to).toBe(faceOf(last + 1_000));
    const later = until(Date.UTC(2026, 10, 21, 10, 1));
    const next = await bookAndLedger(minutes, documented, { from: end.to }, later);
    expect(next.end.orders).toBe(later.length - shown.length);
  });

  test('has a book of a day that is over by its own clock, and a warning before', async () => {
    const beginMs = Date.UTC(2026, 10, 20) - minutes * MINUTE_MS;
    for (const [afterMs, isOver] of [
      [-20 * MINUTE_MS, false],
      [20 * MINUTE_MS, true],
    ] as const) {
      const shown = until(beginMs + afterMs);
      const { end, all } = await bookAndLedger(minutes, documented, { day: '2026-11-19' }, shown, runsOf(shown));
      const isAsked = Date.now() < Date.UTC(2026, 10, 20);
      if (isOver || isAsked) expect(end).toMatchObject({ missing: 0, differences: 0 });
      else expect(all).toContainEqual(expect.objectContaining(NOT_OVER));
    }
  });

  test.each([
    ['that was created since', (ms: number) => [{ ...payouts()[0], id: 'new', createdMs: ms, endedMs: ms }]],
    ['that the service does not show', () => []],
  ])('shows by an order %s whether a time of its clock has passed', async (name, more) => {
    const shown = until(Date.UTC(2026, 10, 20, 2, 30)).filter(({ createdMs }) => createdMs < Date.UTC(2026, 10, 19));
    const all = [...shown, ...(more(Date.now() - 1_000) as Payout[])];
    const { end } = await bookAndLedger(minutes, documented, { from: '2026-11-03', to: '2026-11-20 02:00:00' }, all);
    expect(end.missing).toBe(minutes >= 0 && name === 'that was created since' ? 0 : 1);
  });

  test('names an order of ours that it hides in each month in which it may have ended', async () => {
    const closedAt = new Date(Date.UTC(2026, 10, 30, 20, 0));
    const hidden = { orderId: 'hidden', orderUuid: 'u-hidden', status: 'completed', startedAt: closedAt, closedAt };
    for (const month of ['2026-11', '2026-12']) {
      vi.setSystemTime(Date.UTC(2027, 1, 2));
      const { all } = await bookAndLedger(minutes, documented, { month }, payouts(), [hidden]);
      expect(all).toContainEqual(expect.objectContaining({ kind: 'missing', order_id: 'hidden' }));
    }
  });
});

test.each([
  [330, 'runs', '2026-11-19'],
  [0, 'runs', '2026-11-19'],
  [0, 'no order of this day', '2026-11-18'],
  [-300, 'runs', '2026-11-18'],
])('a service %i min ahead of UTC, with %s, has the book of the last day that is over', async (minutes, kind, day) => {
  const beforeMs = Date.UTC(2026, 10, 20, 0, 10);
  const shown = until(beforeMs).filter(({ createdMs }) => kind === 'runs' || createdMs < Date.UTC(2026, 10, 19));
  const runs = runsOf(shown);
  const { ours, balances } = serviceIn(minutes, documented, shown, runs);
  const read = vi.spyOn(OurOrders, 'read').mockImplementation(ours);
  onTestFinished(() => read.mockRestore());
  const { list } = serviceIn(minutes, documented, shown, runs);
  const reads = { orders: () => list, ask: balances } as never;
  const reportDir = newFolder();
  const account = { name: 'default', rates: { current: async () => undefined } } as never;
  // The client of an activity, which nobody asks here.
  const client = { withAbortSignal: (_: AbortSignal, ask: () => unknown) => ask() } as never;
  const { path } = await new MockActivityEnvironment({}, { client }).run(
    (): ReturnType<typeof writeBook> => writeBook(account, reads, { reportDir, beforeMs }),
  );
  expect(path).toBe(`book-default-${day}.csv`);
  expect(await readdir(reportDir)).toEqual([path]);
  expect(await readFile(join(reportDir, path), 'utf8')).toContain(' 0 missing, 0 differences');
});
