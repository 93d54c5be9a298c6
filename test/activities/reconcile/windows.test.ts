import { expect, test } from 'vitest';
import { serviceTime } from '../../../src/contract/reconcile/input.js';
import type { OrderListItem } from '../../../src/contract/service-objects.js';
import { MalformedResponseError, TooManyValuesError } from '../../../src/payment-service/errors.js';
import { orderWindows, type Page, type WindowPage } from '../../../src/payment-service/paging.js';
import type { OrderListQuery } from '../../../src/payment-service/queries.js';
import { orderListOf } from '../../payment-service/lists.fixture.js';

const START_MS = Date.UTC(2026, 10, 20, 10);
const SECOND_MS = 1_000;
const LIMIT = 10;

/** A list that answers in a new order every time; `second` counts from the start. */
class RandomList {
  readonly orders: { uuid: string; second: number }[] = [];
  requests = 0;

  constructor(seconds: readonly number[]) {
    for (const second of seconds) this.add(second);
  }

  add(second: number): void {
    this.orders.push({ uuid: `uuid-${this.orders.length}`, second });
  }

  list = async ({
    date_from = '',
    date_to = '',
    page = 1,
    limit = LIMIT,
  }: OrderListQuery): Promise<Page<OrderListItem>> => {
    this.requests += 1;
    const found = this.orders
      .map(({ uuid, second }) => ({ order_uuid: uuid, created_at: serviceTime(START_MS + second * SECOND_MS) }))
      .filter(({ created_at: at }) => at >= date_from && at <= date_to)
      .sort(() => Math.random() - 0.5);
    const items = found.slice((page - 1) * limit, page * limit) as OrderListItem[];
    return { items, malformed: [], total: items.length };
  };
}

async function readAll(list: RandomList, expected?: number): Promise<WindowPage[]> {
  const pages: WindowPage[] = [];
  const span = { fromMs: START_MS, toMs: START_MS + 3_600 * SECOND_MS, expected };
  for await (const page of orderWindows(
    orderListOf((query) => list.list(query)),
    span,
    { limit: LIMIT },
  ))
    pages.push(page);
  return pages;
}

const uuidsIn = (pages: readonly WindowPage[]): Set<string> =>
  new Set(pages.flatMap(({ page }) => page.items.map(({ order_uuid }) => order_uuid)));

/** 300 seconds of an hour, crowded at its end. */
const SECONDS = Array.from({ length: 300 }, (_, n) => Math.floor(3_600 * (n / 300) ** 0.5));

test('an hour that fits on one page is one window, and a second request shows that nothing follows', async () => {
  const list = new RandomList([1, 2, 3]);
  expect(await readAll(list)).toHaveLength(1);
  expect(list.requests).toBe(2);
});

test('as many windows as the expected orders need come first, and each order is read', async () => {
  const list = new RandomList(Array.from({ length: 100 }, (_, n) => n * 36));
  const requestsFor = async (expected?: number) => {
    list.requests = 0;
    expect(uuidsIn(await readAll(list, expected)).size).toBe(100);
    return list.requests;
  };
  const halving = await requestsFor();
  expect(await requestsFor(100)).toBeLessThan(0.75 * halving);
});

test('a second that is full is read page by page, and said to be', async () => {
  const list = new RandomList(Array(25).fill(7));
  const stable = list.list;
  // Page by page needs an order that stays.
  list.list = async (query) => {
    const all = await Promise.all([1, 2, 3].map((page) => stable({ ...query, page })));
    const sorted = list.orders.map(({ uuid }) => ({ order_uuid: uuid }) as OrderListItem);
    const items = all[0]?.total ? sorted.slice(((query.page ?? 1) - 1) * LIMIT, (query.page ?? 1) * LIMIT) : [];
    return { items, malformed: [], total: items.length };
  };
  const pages = await readAll(list);
  expect(uuidsIn(pages).size).toBe(25);
  expect(pages.some(({ paged }) => paged)).toBe(true);
});

test('a service that ignores dates is refused instead of being asked for every second', async () => {
  const list = new RandomList(SECONDS);
  const ignoring = (query: OrderListQuery) => list.list({ ...query, date_from: '', date_to: '9' });
  const span = { fromMs: START_MS, toMs: START_MS + 3_600 * SECOND_MS };
  const read = async () => {
    for await (const _ of orderWindows(orderListOf(ignoring), span, { limit: LIMIT })) expect.unreachable();
  };
  await expect(read()).rejects.toThrow(MalformedResponseError);
  expect(list.requests).toBe(2);
});

test('a window whose answer has too many values is halved, a second is not', async () => {
  const list = new RandomList(SECONDS);
  const few = async (query: OrderListQuery) => {
    const page = await list.list({ ...query, limit: LIMIT });
    if (page.total > 4) throw new TooManyValuesError(1_000_000);
    return page;
  };
  const span = { fromMs: START_MS, toMs: START_MS + 1_000 * SECOND_MS };
  const read = async () => {
    const pages: WindowPage[] = [];
    for await (const page of orderWindows(orderListOf(few), span, { limit: LIMIT })) pages.push(page);
    return uuidsIn(pages).size;
  };
  expect(await read()).toBe(SECONDS.filter((second) => second <= 1_001).length);
  for (let n = 0; n < 5; n += 1) list.add(500);
  await expect(read()).rejects.toThrow(TooManyValuesError);
});
