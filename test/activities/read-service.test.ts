import { describe, expect, test } from 'vitest';
import { READS } from '../../src/contract/reads.js';
import { orderInput } from '../support/inputs.js';
import { attemptOf, failureOf, openActivities, UNCLEAR_FAULTS } from './activity-lab.js';

const PLACE_OF_READ = {
  rates: 'rates',
  balances: 'balances',
  orderStatus: 'status',
  orderList: 'list',
  addressList: 'address',
} as const;

const QUERY_OF_READ = { orderStatus: { order_id: 'w-1' } } as Record<string, Record<string, unknown>>;

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

  test('of an order that the service does not show is refused', async () => {
    const { run } = await openActivities();
    const failure = await failureOf(run('readService', read('orderStatus', { order_id: 'nobody' })));
    expect(failure).toMatchObject({ type: 'ServiceRejected', nonRetryable: true });
  });
});

describe('bad input', () => {
  test.for<[input: { account: string; read: string; query?: unknown }, field: string]>([
    [read('everything'), 'read'],
    [read('orderStatus'), 'query.order_id'],
    [read('orderStatus', { order_id: 'a', order_uuid: 'b' }), 'query.order_id'],
    [read('orderStatus', { order_uuid: 'not/a/uuid' }), 'query.order_uuid'],
    [read('orderList', { limit: 501 }), 'query.limit'],
    [read('orderList', { order_ids: [] }), 'query.order_ids'],
    [read('orderList', { date_from: '2026-02-30 00:00:00' }), 'query.date_from'],
    [read('addressList', { limit: 101 }), 'query.limit'],
    [read('rates', { currency: 'usd' }), 'query.currency'],
    [read('balances', []), 'query'],
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

describe.each(READS)('%s', (name) => {
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
    expect(await failureOf(run('readService', input))).toMatchObject({ type: 'ServiceRejected', nonRetryable: true });
  });
});
