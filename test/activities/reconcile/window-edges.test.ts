import { describe, expect, test } from 'vitest';
import { edgeAfter } from '../../../src/activities/reconcile/reconcile-day.js';
import { serviceTime } from '../../../src/contract/reconcile/input.js';
import type { OrderListItem } from '../../../src/contract/service-objects.js';
import { orderWindows, type Page } from '../../../src/payment-service/paging.js';
import type { OrderListQuery } from '../../../src/payment-service/queries.js';
import { orderListOf } from '../../payment-service/lists.fixture.js';

const START_MS = Date.UTC(2026, 10, 20, 10);
const SECOND_MS = 1_000;
const LIMIT = 10;

/** Orders created in these seconds from the start, in an order that is none of time; always the same, so that pages hold. */
const ordersOf = (seconds: readonly number[]): OrderListItem[] =>
  seconds
    .map((second, n) => ({
      order_uuid: `${(n * 7_919) % 1_009}-${n}`,
      created_at: serviceTime(START_MS + second * SECOND_MS),
    }))
    .sort((a, b) => (a.order_uuid < b.order_uuid ? -1 : 1)) as OrderListItem[];

const listOf =
  (orders: readonly OrderListItem[], dateToBelongs: boolean) =>
  async ({ date_from = '', date_to = '', page = 1 }: OrderListQuery): Promise<Page<OrderListItem>> => {
    const found = orders.filter(({ created_at }) => {
      const at = created_at ?? '';
      return at >= date_from && (dateToBelongs ? at <= date_to : at < date_to);
    });
    const items = found.slice((page - 1) * LIMIT, page * LIMIT);
    return { items, malformed: [], total: items.length };
  };

/** What windows show, and what counts of it; `again`: shown once more by a later window. */
interface Counted {
  uuids: string[];
  again: number;
  paged: number;
  longestEdge: number;
}

/** Reads an hour as a reconciliation does: what the edge of the window before holds counts no more. */
async function count(seconds: readonly number[], dateToBelongs = true): Promise<Counted> {
  const list = listOf(ordersOf(seconds), dateToBelongs);
  const span = { fromMs: START_MS, toMs: START_MS + 3_600 * SECOND_MS };
  const counted: Counted = { uuids: [], again: 0, paged: 0, longestEdge: 0 };
  let edge: string[] = [];
  for await (const one of orderWindows(orderListOf(list), span, { limit: LIMIT })) {
    const uuids = one.page.items.map(({ order_uuid }) => order_uuid);
    const fresh = uuids.filter((uuid) => !edge.includes(uuid));
    counted.uuids.push(...fresh);
    counted.again += uuids.length - fresh.length;
    if (one.paged) counted.paged += 1;
    edge = edgeAfter(edge, one);
    counted.longestEdge = Math.max(counted.longestEdge, edge.length);
  }
  return counted;
}

function expectEachOnce({ uuids }: Counted, seconds: readonly number[]): void {
  expect(uuids.toSorted()).toEqual(
    ordersOf(seconds)
      .map(({ order_uuid }) => order_uuid)
      .toSorted(),
  );
}

const everySecond = Array.from({ length: 3_600 }, (_, second) => second);

describe.each([
  ['belongs to the window', true],
  ['does not', false],
])('where date_to %s', (_, dateToBelongs) => {
  test('orders exactly on the edge of two windows count once', async () => {
    const counted = await count(everySecond, dateToBelongs);
    expectEachOnce(counted, everySecond);
    expect(counted.again > 0).toBe(dateToBelongs);
  });

  test('orders of one second that fill pages count once, those of the seconds beside it too', async () => {
    const seconds = [6, 6, ...Array(35).fill(7), ...Array(4).fill(8), ...Array(25).fill(9), 10, 500];
    const counted = await count(seconds, dateToBelongs);
    expectEachOnce(counted, seconds);
    expect(counted.paged).toBeGreaterThan(3);
  });

  test('a second with exactly a page of orders hides none of them', async () => {
    const seconds = [...Array(LIMIT).fill(7), ...Array(LIMIT - 1).fill(8), ...Array(LIMIT + 1).fill(9)];
    expectEachOnce(await count(seconds, dateToBelongs), seconds);
  });
});

test('windows without orders leave the edge before them as it is', async () => {
  const seconds = [...Array(9).fill(0), ...Array(9).fill(3_600)];
  expectEachOnce(await count(seconds), seconds);
  const one = { window: { from: '', to: '' }, page: { items: [], malformed: [], total: 0 }, paged: false };
  const edge = ['last'];
  expect(edgeAfter(edge, one)).toBe(edge);
});

test('the edge holds the orders of two seconds, not all that windows showed', async () => {
  expect((await count(everySecond)).longestEdge).toBe(2);
});

test('orders without a date count as of the newest second', () => {
  const items = [{ order_uuid: 'none', created_at: null }, ...ordersOf([0, 30])] as OrderListItem[];
  const page = { items, malformed: [], total: items.length };
  const edge = edgeAfter(['gone'], { window: { from: '', to: '' }, page, paged: false });
  const newest = serviceTime(START_MS + 30 * SECOND_MS);
  expect(edge).toEqual(['none', items.find(({ created_at }) => created_at === newest)?.order_uuid]);
});
