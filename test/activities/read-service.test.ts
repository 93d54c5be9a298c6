import { describe, expect, test } from 'vitest';
import { READS } from '../../src/contract/service-objects.js';
import { orderInput } from '../support/inputs.js';
import { attemptOf, CALLBACK, failureOf, openActivities, UNCLEAR_FAULTS } from './activity-lab.fixture.js';

const PLACE_OF_READ = {
  rates: 'rates',
  balances: 'balances',
  orderStatus: 'status',
  orderList: 'list',
  addressList: 'address',
  book: 'list',
} as const;

const DAY = { date_from: '2026-11-26 00:00:00', date_to: '2026-11-27 00:00:00' };
const QUERY_OF_READ = { orderStatus: { order_id: 'w-1' }, book: DAY } as Record<string, Record<string, unknown>>;

const read = (name: string, query?: unknown) => ({
  account: 'default',
  read: name,
  ...(query !== undefined && { query }),
});

describe('a read', () => {
  test('of rates and balances answers by pair and by currency', async () => {
    const { run } = await openActivities();
    expect(await run('readService', read('rates'))).toHaveProperty(['withdraw', 'usd_card', 'min_amount_from'], '1');
    expect(await run('readService', read('balances'))).toHaveProperty(['usd', 'amount']);
  });

  test('of an order, a list of orders and a list of addresses answers what the service has', async () => {
    const { run } = await openActivities();
    await run('createOrder', attemptOf('withdraw', orderInput('withdraw', 'w-1')));
    expect(await run('readService', read('orderStatus', { order_id: 'w-1' }))).toMatchObject({ user_order_id: 'w-1' });
    expect(await run('readService', read('orderList', { order_ids: ['w-1'] }))).toMatchObject([
      { user_order_id: 'w-1' },
    ]);
    expect(await run('readService', read('addressList'))).toEqual([]);
  });

  test.for([
    ['a', 'HTTP 400: order not found'],
    ['b', 'HTTP 404: order not found'],
    ['c', 'HTTP 200: {"status":"error"}'],
  ] as const)('of an order that the service does not show (%s) says how it answered', async ([unknownMode, said]) => {
    const { run } = await openActivities({ unknownMode });
    const failure = await failureOf(run('readService', read('orderStatus', { order_id: 'nobody' })));
    const message = `order/status answers ${said}: no such order, a bad query or a wrong base URL`;
    expect(failure).toMatchObject({ type: 'ServiceRejected', nonRetryable: true, message });
  });
});

describe.each([1, 2, 10])('a service with pages of %i', (listAtMost) => {
  const COUNT = 12;

  test('gives a reader of orders the page that was asked for', async () => {
    const { run, sandbox } = await openActivities();
    for (let n = 0; n < COUNT; n += 1)
      await run('createOrder', attemptOf('withdraw', orderInput('withdraw', `w-${n}`)));
    const all = (await run('readService', read('orderList'))) as { user_order_id: string }[];
    expect(all).toHaveLength(COUNT);
    sandbox.set({ listAtMost });
    for (const [page, from, to] of [
      [1, 0, 11],
      [2, 11, 12],
      [3, 12, 12],
    ] as const) {
      expect(await run('readService', read('orderList', { limit: 11, page }))).toEqual(all.slice(from, to));
    }
    expect(await run('readService', read('orderList', { limit: 11 }))).toHaveLength(11);
    expect(await run('readService', read('orderList'))).toEqual(all);
  });

  test('gives a reader of addresses all of them', async () => {
    const { run } = await openActivities({ listAtMost }, { callback: CALLBACK });
    for (let n = 0; n < 3; n += 1) {
      const input = { ref: `a-${n}`, address: { currency: 'usdt', network: 'tron' } };
      expect(await run('createAddress', { account: 'default', input })).toMatchObject({ kind: 'created' });
    }
    expect(await run('readService', read('addressList'))).toHaveLength(3);
  });
});

describe('what the service sends otherwise than it should', () => {
  test('a row of a list that cannot be read stands in its place, and says why', async () => {
    const { run } = await openActivities({ malformedIndex: 1, faults: { 'list.malformed': 1 } });
    for (const id of ['w-1', 'w-2', 'w-3']) {
      await run('createOrder', attemptOf('withdraw', orderInput('withdraw', id), { permission: 'absent' }));
    }
    const rows = (await run('readService', read('orderList'))) as Record<string, unknown>[];
    expect(rows.map((row) => Object.keys(row).includes('malformed'))).toEqual([false, true, false]);
    expect(rows[1]).toEqual({ malformed: expect.stringContaining('order_uuid') });
  });

  test('an address that cannot be read stands in its place', async () => {
    const { run } = await openActivities({ faults: { 'address-list.malformed': 1 } }, { callback: CALLBACK });
    await run('createAddress', {
      account: 'default',
      input: { ref: 'a-1', address: { currency: 'usdt', network: 'tron' } },
    });
    expect(await run('readService', read('addressList'))).toEqual([{ malformed: expect.stringContaining('uuid') }]);
  });

  test('rates and balances that cannot be read stand in their places, and cost none of the others', async () => {
    const { run } = await openActivities({ faults: { 'rates.some-malformed': 1, 'balances.some-malformed': 1 } });
    const rates = (await run('readService', read('rates', { order_type: 'withdraw' }))) as { withdraw: object };
    const entries = [
      ...Object.values(rates.withdraw),
      ...Object.values((await run('readService', read('balances'))) as object),
    ];
    expect(entries.filter((entry) => 'malformed' in entry).length).toBeGreaterThan(5);
    expect(entries.filter((entry) => !('malformed' in entry)).length).toBeGreaterThan(5);
  });
});

describe('large answers', () => {
  test('4,500 pairs more are too large, and say which query is not', { timeout: 60_000 }, async () => {
    const { run } = await openActivities({ faults: { 'rates.many-pairs': 1 } }, { requestTimeoutMs: 20_000 });
    expect(await failureOf(run('readService', read('rates')))).toMatchObject({
      type: 'InvalidInput',
      nonRetryable: true,
      message: expect.stringMatching(/^query: the answer of \d+ bytes is too large/),
    });
    const one = await run('readService', read('rates', { order_type: 'withdraw', pair: 'usd_card' }));
    expect(one).toEqual({ withdraw: { usd_card: expect.objectContaining({ min_amount_from: '1' }) } });
    expect(Object.keys((await run('readService', read('rates', { order_type: 'exchange' }))) as object)).toEqual([
      'exchange',
    ]);
  });
});

describe('bad input', () => {
  test.for<[input: { account: string; read: string; query?: unknown }, field: string]>([
    [read('everything'), 'read'],
    [read('orderStatus'), 'query.order_id'],
    [read('orderList', { limit: 1001 }), 'query.limit'],
    [read('rates', { order_type: 'payout' }), 'query.order_type'],
    [read('addressList', { limit: 101 }), 'query.limit'],
    [read('rates', { currency: 'usd' }), 'query.currency'],
    [read('balances', []), 'query'],
    [read('check', { order_type: 'payout', input: {} }), 'query.order_type'],
    [read('check', { order_type: 'withdraw', input: {}, again: true }), 'query.again'],
  ])('%j: names %s and asks nothing', async ([input, field]) => {
    const { sandbox, run } = await openActivities();
    const failure = await failureOf(run('readService', input));
    expect(failure).toMatchObject({ type: 'InvalidInput', nonRetryable: true, details: [[{ field }]] });
    expect(sandbox.requests()).toEqual([]);
  });

  test('an account that this worker does not serve ends the read', async () => {
    const { run } = await openActivities();
    const failure = await failureOf(run('readService', { account: 'other', read: 'rates' }));
    expect(failure).toMatchObject({ nonRetryable: true, details: [[{ field: 'account' }]] });
  });
});

describe.each(READS.filter((name) => name !== 'check'))('%s', (name) => {
  const place = PLACE_OF_READ[name];
  const input = read(name, QUERY_OF_READ[name]);

  test.for(UNCLEAR_FAULTS)('answered with %s is repeated', async (fault) => {
    const { run } = await openActivities({ unknownMode: 'd', faults: { [`${place}.${fault}`]: 1 } });
    expect((await failureOf(run('readService', input))).nonRetryable).not.toBe(true);
  });

  test('answered with 429 is repeated when the service says', async () => {
    const { run } = await openActivities({ faults: { [`${place}.429-huge`]: 1 } });
    expect(await failureOf(run('readService', input))).toMatchObject({ nextRetryDelay: 60_000 });
  });

  test('answered with 400 is refused', async () => {
    const { run } = await openActivities({ faults: { [`${place}.400`]: 1 } });
    const message = expect.stringContaining('HTTP 400: injected by the sandbox');
    const refused = { type: 'ServiceRejected', nonRetryable: true, message };
    expect(await failureOf(run('readService', input))).toMatchObject(refused);
  });
});
