import Big from 'big.js';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { readBookPage } from '../../src/activities/books.js';
import { exportBook } from '../../src/client/books/export-book.js';
import type { OurOrders } from '../../src/client/books/our-orders.js';
import { checkedPeriod } from '../../src/contract/books/period.js';
import { type Page, PageSizes } from '../../src/payment-service/paging.js';
import type { OrderListQuery } from '../../src/payment-service/queries.js';
import { readPage } from '../../src/payment-service/responses.js';
import { orderListItemSchema } from '../../src/payment-service/schemas.js';
import { orderObject } from '../payment-service/objects.fixture.js';
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
    const lastsMs = n % 29 === 0 ? 30 * HOUR_MS : ((n * 7_919) % 600) * 1_000;
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
function serviceIn(minutes: number, form: Form, shown: readonly Payout[] = payouts()) {
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
  const nobody = { all: () => [], of: () => undefined, changeOf: () => undefined, followUpsOf: () => [] };
  const ours = { ...nobody, changed: new Map(), readMore: async () => undefined };
  return {
    ours: async () => ours as unknown as OurOrders,
    page: (query: OrderListQuery) => readBookPage(list as never, undefined, query),
    balances: async () => ({ usd: { currency: 'usd', amount: shown.at(-1)?.after ?? START, overdraft: '0' } }) as never,
  };
}

/** The book of an input, beside the truth of the ledger by the service's clock. */
async function bookAndLedger(minutes: number, form: Form, input: object) {
  const checked = checkedPeriod(input, Date.now());
  if ('errors' in checked) throw new Error(JSON.stringify(checked.errors));
  const { fromMs, toMs } = checked.input;
  const shown = payouts();
  const { orders, sums, end, all } = await bookOf(exportBook(serviceIn(minutes, form), checked.input));
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
