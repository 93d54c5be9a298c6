import { expect, test } from 'vitest';
import { allPages, hasMore, PageSizes } from '../../src/payment-service/paging.js';
import { addressObject, orderObject } from './objects.fixture.js';
import { answer, clientFor, startServer } from './server.fixture.js';

const orders = (...ids: string[]) => ids.map((id) => orderObject({ order_uuid: id, user_order_id: id }));

/** A server whose n-th list request is answered by the n-th page. */
const startLists = (pages: unknown[][]) => {
  let n = 0;
  return startServer((response) => answer(response, pages[n++] ?? []));
};

async function collect<T>(pages: AsyncGenerator<{ items: T[] }>): Promise<T[][]> {
  const collected: T[][] = [];
  for await (const page of pages) collected.push(page.items);
  return collected;
}

test('pages are read until an empty one, each with the same query', async () => {
  const { baseUrl, received } = await startLists([orders('a', 'b'), orders('c', 'd'), orders('e')]);
  const pages = await collect(allPages({ limit: 2, status: 'new' }, clientFor(baseUrl).orders()));
  expect(pages.map((page) => page.map(({ order_uuid }) => order_uuid))).toEqual([['a', 'b'], ['c', 'd'], ['e'], []]);
  expect(received.map(({ body }) => JSON.parse(body.toString()))).toEqual([
    { limit: 2, status: 'new', page: 1 },
    { limit: 2, status: 'new', page: 2 },
    { limit: 2, status: 'new', page: 3 },
    { limit: 2, status: 'new', page: 4 },
  ]);
});

test('an order that shifts to the next page comes once', async () => {
  const { baseUrl } = await startLists([orders('a', 'b'), orders('b', 'c'), []]);
  const pages = await collect(allPages({ limit: 2 }, clientFor(baseUrl).orders()));
  expect(pages.flat().map(({ order_uuid }) => order_uuid)).toEqual(['a', 'b', 'c']);
});

test('malformed items count as items of a full page', async () => {
  const { baseUrl, received } = await startLists([[orders('a')[0], { bad: true }], []]);
  await collect(allPages({ limit: 2 }, clientFor(baseUrl).orders()));
  expect(received).toHaveLength(2);
});

test('without a limit a page of 100 is full', async () => {
  const hundred = orders(...Array.from({ length: 100 }, (_, i) => `o-${i}`));
  const { baseUrl, received } = await startLists([hundred, orders('last')]);
  expect((await collect(allPages({}, clientFor(baseUrl).orders()))).flat()).toHaveLength(101);
  expect(received).toHaveLength(3);
});

/** A list of orders whose page size is its own; `cuts`: by the limit that was asked for it places pages all the same. */
const startOwnSize = (count: number, size: number, cuts = false) => {
  const all = orders(...Array.from({ length: count }, (_, n) => `o-${n}`));
  return startServer((response, { body }) => {
    const { limit, page } = JSON.parse(body.toString());
    const from = (page - 1) * (cuts ? limit : Math.min(limit, size));
    answer(response, all.slice(from, from + Math.min(limit, size)));
  });
};

test.for([
  ['a page size of its own', 7, 3, false],
  ['a page size of its own that divides the list', 9, 3, false],
  ['pages of one', 4, 1, false],
  ['pages of ten', 25, 10, false],
  ['pages of 200', 450, 200, false],
  ['pages that it cuts off', 7, 3, true],
  ['pages of 200 that it cuts off', 450, 200, true],
] as const)(
  'a service with %s is read to its end, and its page size is reported once',
  async ([, count, size, cuts]) => {
    const { baseUrl } = await startOwnSize(count, size, cuts);
    const reported: unknown[] = [];
    const service = clientFor(baseUrl, { onSmallPage: (...small) => reported.push(small) });
    for (let round = 0; round < 2; round += 1) {
      expect((await collect(allPages({ limit: 1_000 }, service.orders()))).flat()).toHaveLength(count);
    }
    expect(reported).toEqual([['order/list', { size, limit: 1_000 }]]);
    expect(service.orders().sizes.small).toEqual({ size, limit: 1_000 });
  },
);

test('an order that was added while the list was read is no page size', async () => {
  const { baseUrl } = await startLists([orders('a', 'b', 'c'), [], orders('a', 'b'), orders('new'), []]);
  const reported: unknown[] = [];
  const service = clientFor(baseUrl, { onSmallPage: (...small) => reported.push(small) });
  await collect(allPages({}, service.orders()));
  await collect(allPages({}, service.orders()));
  expect(reported).toEqual([]);
});

test('a list without entries is one request', async () => {
  const { baseUrl, received } = await startLists([]);
  await collect(allPages({}, clientFor(baseUrl).orders()));
  expect(received).toHaveLength(1);
});

test('a service that ignores the page number ends in an error, not in a loop', async () => {
  const { baseUrl, received } = await startServer((response) => answer(response, orders('a', 'b')));
  await expect(collect(allPages({ limit: 2 }, clientFor(baseUrl).orders()))).rejects.toMatchObject({
    code: 'malformed_response',
  });
  expect(received).toHaveLength(3);
});

test.each([
  ['of several entries', [orders('a', 'b'), orders('a', 'b'), orders('b')], ['a', 'b']],
  ['of one entry', [orders('a'), orders('a')], ['a']],
  ['behind others', [orders('a', 'b'), orders('c'), orders('c')], ['a', 'b', 'c']],
])('a service that repeats its last page %s has shown its whole list', async (_, pages, ids) => {
  const { baseUrl } = await startLists(pages);
  const read = await collect(allPages({ limit: 100 }, clientFor(baseUrl).orders()));
  expect(read.flat().map(({ order_uuid }) => order_uuid)).toEqual(ids);
});

test('a service that ignores the page number of a page that is not full ends in an error, too', async () => {
  const { baseUrl, received } = await startServer((response) => answer(response, orders('a', 'b')));
  await expect(collect(allPages({ limit: 100 }, clientFor(baseUrl).orders()))).rejects.toMatchObject({
    code: 'malformed_response',
  });
  expect(received).toHaveLength(3);
});

test('an error on a later page comes out', async () => {
  let n = 0;
  const { baseUrl } = await startServer((response) => answer(response, orders('a', 'b'), n++ === 0 ? 200 : 503));
  await expect(collect(allPages({ limit: 2 }, clientFor(baseUrl).orders()))).rejects.toMatchObject({ status: 503 });
});

test('addresses are paged by uuid', async () => {
  const address = (uuid: string) => addressObject({ uuid });
  const { baseUrl } = await startLists([[address('a'), address('b')], [address('b')]]);
  const pages = await collect(allPages({ limit: 2 }, clientFor(baseUrl).addresses()));
  expect(pages.flat().map(({ uuid }) => uuid)).toEqual(['a', 'b']);
});

test.for([
  ['fewer, all of them seen', [['b', 'c']], true],
  [
    'as many, all of them seen by chance, and others when asked again',
    [
      ['c', 'a', 'b'],
      ['b', 'c'],
      ['d', 'a', 'e'],
    ],
    true,
  ],
  ['the last page again, whenever it is asked', [['a', 'b', 'c'], ['b'], ['a', 'b', 'c']], false],
  ['none', [[]], false],
] as const)(
  'after a short page of a list without an order, the next one tells whether more follow: %s',
  async ([, pages, more]) => {
    const left = pages.map((ids) => ids.map((id) => ({ id })));
    const ask = async () => {
      const items = left.shift() ?? [];
      return { items, malformed: [], total: items.length };
    };
    const first = { items: ['a', 'b', 'c'].map((id) => ({ id })), malformed: [], total: 3 };
    const list = { page: ask, idOf: ({ id }: { id: string }) => id, sizes: new PageSizes() };
    expect(await hasMore({ limit: 1_000 }, first, list)).toBe(more);
  },
);
