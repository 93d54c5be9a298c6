import { expect, test } from 'vitest';
import type { DepositAddress, Sandbox } from '../../sandbox/index.js';
import { call, create, type Item, start } from './sandbox.fixture.js';

const marked = (words: string) => ({ description: `[sandbox ${words}]` });
const idsOf = (items: readonly Item[]) => items.map(({ user_order_id }) => user_order_id);
const list = async (sandbox: Sandbox, query: object = {}) =>
  (await call<Item[]>(sandbox, 'order/list', query)).body.data;

/** Orders w0 to w<n-1>, all open. */
async function withOrders(count: number, settings = {}): Promise<Sandbox> {
  const sandbox = await start({ timeScale: 1000, settings });
  for (let n = 0; n < count; n += 1) await create(sandbox, 'withdraw', `w${n}`);
  return sandbox;
}

const MALFORMED = { order_uuid: null, status: 7 };

test('list=malformed breaks the item of its own order, and the log says where it stood', async () => {
  const sandbox = await withOrders(6);
  await create(sandbox, 'withdraw', 'bad', marked('list=malformed'));
  for (let round = 0; round < 2; round += 1) {
    const items = await list(sandbox);
    const at = items.findIndex((item) => item.order_uuid === null);
    expect(items[at]).toMatchObject({ ...MALFORMED, user_order_id: 'bad' });
    expect(items.filter((item) => item.order_uuid === null)).toHaveLength(1);
    expect(sandbox.requests().at(-1)).toMatchObject({ fault: 'malformed', malformed: [at] });
  }
  expect((await call(sandbox, 'order/status', { order_id: 'bad' })).body.data.status).toBe('processing');
  expect(idsOf(await list(sandbox, { order_ids: ['w1', 'w2'] })).sort()).toEqual(['w1', 'w2']);
  expect(sandbox.requests().at(-1)).not.toHaveProperty('malformed');
});

test('list.malformed by rate breaks the item at malformedIndex; a shorter answer stays whole', async () => {
  const sandbox = await withOrders(5, { faults: { 'list.malformed': 1 }, malformedIndex: 3 });
  const items = await list(sandbox);
  expect(items.map((item) => item.order_uuid === null)).toEqual([false, false, false, true, false]);
  expect(sandbox.requests().at(-1)).toMatchObject({ malformed: [3] });
  expect((await list(sandbox, { limit: 3 })).every(({ order_uuid }) => order_uuid !== null)).toBe(true);
});

test('address-list.malformed breaks one address of the list', async () => {
  const sandbox = await start({ settings: { malformedIndex: 1 } });
  for (let n = 0; n < 3; n += 1) {
    await call<DepositAddress>(sandbox, 'deposit_address/create', { currency: 'btc', network: 'bitcoin' });
  }
  sandbox.set({ faults: { 'address-list.malformed': 1 } });
  const { body } = await call<DepositAddress[]>(sandbox, 'deposit_address/list');
  expect(body.data.map(({ uuid }) => uuid === null)).toEqual([false, true, false]);
  expect(sandbox.requests().at(-1)).toMatchObject({ malformed: [1] });
});

test('listOrder random: every answer has all orders, each in another order', async () => {
  const sandbox = await withOrders(12, { listOrder: 'random' });
  const [first, second] = [idsOf(await list(sandbox)), idsOf(await list(sandbox))];
  expect(first).not.toEqual(second);
  expect([...first].sort()).toEqual([...second].sort());
  expect(first).toHaveLength(12);
});

test.each([
  ['newest', ['w2', 'w1', 'w0']],
  ['oldest', ['w0', 'w1', 'w2']],
] as const)('listOrder %s: by creation', async (listOrder, ids) => {
  const sandbox = await start({ timeScale: 1000, settings: { listOrder } });
  for (const id of ['w0', 'w1', 'w2']) {
    await create(sandbox, 'withdraw', id);
    // Two of one millisecond would have no order.
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  expect(idsOf(await list(sandbox))).toEqual(ids);
});

test.each([
  [
    [0, 2],
    ['w0', 'w1'],
  ],
  [[-2], ['w2', 'w3']],
  [
    [0, -1],
    ['w0', 'w1', 'w2'],
  ],
])('orderIdsRead %j: the other ids are as if nobody asked for them', async (orderIdsRead, ids) => {
  const sandbox = await withOrders(4, { orderIdsRead });
  expect(idsOf(await list(sandbox, { order_ids: ['w0', 'w1', 'w2', 'w3'] })).sort()).toEqual(ids);
});

test('date_from and date_to are inclusive to the second', async () => {
  const sandbox = await withOrders(1);
  const at = sandbox.orders()[0]?.order.created_at ?? '';
  expect(await list(sandbox, { date_from: at, date_to: at })).toHaveLength(1);
  const beside = (ms: number) =>
    new Date(Date.parse(`${at.replace(' ', 'T')}Z`) + ms).toISOString().slice(0, 19).replace('T', ' ');
  expect(await list(sandbox, { date_from: beside(1000) })).toEqual([]);
  expect(await list(sandbox, { date_to: beside(-1000) })).toEqual([]);
  expect(await list(sandbox, { date_from: beside(-1000), date_to: beside(1000) })).toHaveLength(1);
});
