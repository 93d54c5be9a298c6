import { expect, test } from 'vitest';
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

test('pages are read until one is not full, each with the same query', async () => {
  const { baseUrl, received } = await startLists([orders('a', 'b'), orders('c', 'd'), orders('e')]);
  const pages = await collect(clientFor(baseUrl).allOrders({ limit: 2, status: 'new' }));
  expect(pages.map((page) => page.map(({ order_uuid }) => order_uuid))).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
  expect(received.map(({ body }) => JSON.parse(body.toString()))).toEqual([
    { limit: 2, status: 'new', page: 1 },
    { limit: 2, status: 'new', page: 2 },
    { limit: 2, status: 'new', page: 3 },
  ]);
});

test('an order that shifts to the next page comes once', async () => {
  const { baseUrl } = await startLists([orders('a', 'b'), orders('b', 'c'), []]);
  const pages = await collect(clientFor(baseUrl).allOrders({ limit: 2 }));
  expect(pages.flat().map(({ order_uuid }) => order_uuid)).toEqual(['a', 'b', 'c']);
});

test('malformed items count as items of a full page', async () => {
  const { baseUrl, received } = await startLists([[orders('a')[0], { bad: true }], []]);
  await collect(clientFor(baseUrl).allOrders({ limit: 2 }));
  expect(received).toHaveLength(2);
});

test('without a limit a page of 100 is full', async () => {
  const hundred = orders(...Array.from({ length: 100 }, (_, i) => `o-${i}`));
  const { baseUrl, received } = await startLists([hundred, orders('last')]);
  expect((await collect(clientFor(baseUrl).allOrders({}))).flat()).toHaveLength(101);
  expect(received).toHaveLength(2);
});

test('a service that ignores the page number ends in an error, not in a loop', async () => {
  const { baseUrl, received } = await startServer((response) => answer(response, orders('a', 'b')));
  await expect(collect(clientFor(baseUrl).allOrders({ limit: 2 }))).rejects.toMatchObject({
    code: 'malformed_response',
  });
  expect(received).toHaveLength(2);
});

test('an error on a later page comes out', async () => {
  let n = 0;
  const { baseUrl } = await startServer((response) => answer(response, orders('a', 'b'), n++ === 0 ? 200 : 503));
  await expect(collect(clientFor(baseUrl).allOrders({ limit: 2 }))).rejects.toMatchObject({ status: 503 });
});

test('addresses are paged by uuid', async () => {
  const address = (uuid: string) => addressObject({ uuid });
  const { baseUrl } = await startLists([[address('a'), address('b')], [address('b')]]);
  const pages = await collect(clientFor(baseUrl).allDepositAddresses({ limit: 2 }));
  expect(pages.flat().map(({ uuid }) => uuid)).toEqual(['a', 'b']);
});
