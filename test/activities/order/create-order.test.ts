import { afterEach, describe, expect, test, vi } from 'vitest';
import { verifyCallbackPath } from '../../../src/contract/callback-url.js';
import { ORDER_TYPES } from '../../../src/contract/order/types.js';
import { Refused } from '../../../src/contract/refused.js';
import { answer, startServer } from '../../payment-service/server.fixture.js';
import { orderInput } from '../../support/inputs.js';
import {
  activitiesFor,
  attemptOf,
  CALLBACK,
  ELSEWHERE,
  failureOf,
  openActivities,
  operations,
  PACE,
  RUN_ID,
} from '../activity-lab.fixture.js';

afterEach(() => {
  vi.restoreAllMocks();
});

const marked = (marker: string, orderId = 'w-1') => orderInput('withdraw', orderId, { marker });

describe('an accepted create', () => {
  test.for(ORDER_TYPES)(
    '%s: is sent once, after the probe, and answers the order with its circumstances',
    async (type) => {
      const { sandbox, run, sentTo } = await openActivities();
      const verdict = await run('createOrder', attemptOf(type));
      expect(verdict).toMatchObject({ kind: 'accepted', order: { user_order_id: `${type}-1` }, pace: PACE, sentTo });
      expect(verdict).toHaveProperty('payers');
      expect(verdict).not.toHaveProperty('notes');
      expect(operations(sandbox)).toEqual(['list', 'create']);
    },
  );

  test('tells the server where it is about to be sent, before it is sent', async () => {
    const { sandbox, run, sentTo } = await openActivities();
    const seen: unknown[] = [];
    await run('createOrder', attemptOf('withdraw'), {
      onHeartbeat: (details) => seen.push(details, operations(sandbox)),
    });
    expect(seen).toEqual([{ sentTo }, ['list']]);
  });

  const givenUp = (): void => {
    throw new Error('no such activity any more');
  };
  /** Stopped for longer than a send may take: 50 s for the attempt, less 25 s for the send. */
  const stopped = (clock: { now(): number }) => (): void => {
    const later = clock.now() + 26_000;
    vi.spyOn(clock, 'now').mockReturnValue(later);
  };
  test.for([
    ['the server has given up', givenUp],
    ['is too old to send by the wall clock', stopped(Date)],
    ['is too old to send by the monotonic clock', stopped(performance)],
  ] as const)('is not sent by an attempt that %s', async ([, onHeartbeat]) => {
    const { sandbox, run } = await openActivities();
    expect(await run('createOrder', attemptOf('withdraw'), { onHeartbeat })).toMatchObject({ kind: 'notSent' });
    expect(operations(sandbox)).toEqual(['list']);
  });

  test('carries a callback URL that only the token key could have made, and the remaining delay', async () => {
    const { baseUrl, received } = await startServer((response, { path }) =>
      path.endsWith('/list') ? answer(response, []) : answer(response, 'no', 500),
    );
    const run = await activitiesFor({ baseUrl }, { callback: CALLBACK });
    const { order } = orderInput('withdraw', 'w-1');
    const startedAtMs = Date.now() - 23 * 60_000;
    await run(
      'createOrder',
      attemptOf('withdraw', { order: { ...order, delay_order_for_minutes: 30 } }, { startedAtMs }),
    );
    const body = JSON.parse(String(received.at(-1)?.body));
    expect(body.delay_order_for_minutes).toBe(7);
    const { pathname } = new URL(body.callback_url);
    expect(verifyCallbackPath(pathname, CALLBACK.tokenKeys)).toEqual({
      kind: 'order',
      account: 'default',
      orderId: 'w-1',
    });
  });
});

describe('an attempt that the server repeats', () => {
  test('sends nothing: the one before it may have sent, and may be sending still', async () => {
    const { sandbox, run } = await openActivities();
    const heartbeatDetails = { sentTo: ELSEWHERE };
    const answer = await run('createOrder', attemptOf('withdraw'), { attempt: 2, heartbeatDetails });
    expect(answer).toMatchObject({ kind: 'uncertain', timedOut: true, runId: RUN_ID, sentTo: ELSEWHERE });
    expect(operations(sandbox)).toEqual([]);
  });

  // Unpaused with attempts and heartbeat reset, it looks like a first one but for its time.
  test.for([{ attempt: 2 }, { laterMs: 20 }])('sends and answers nothing where nothing was left: %o', async (info) => {
    const { sandbox, run } = await openActivities();
    const failure = await failureOf(run('createOrder', attemptOf('withdraw'), info));
    expect(failure).toMatchObject({ nonRetryable: true, message: expect.stringContaining('nothing says where') });
    expect(operations(sandbox)).toEqual([]);
  });

  test('of a run that was reset says so: the run before may have sent', async () => {
    const { sandbox, run } = await openActivities();
    const answer = await run('createOrder', attemptOf('withdraw'), { laterMs: 20, runId: 'run-2' });
    expect(answer).toMatchObject({ kind: 'uncertain', reset: true, runId: 'run-2' });
    expect(operations(sandbox)).toEqual([]);
  });

  // Reset by an operator, it counts from 1 again: what was left tells that there was one before.
  test('sends nothing either where what was left cannot be read, and answers nothing', async () => {
    const { sandbox, run } = await openActivities();
    const heartbeatDetails = new Refused('foreign', 'plain');
    await expect(run('createOrder', attemptOf('withdraw'), { heartbeatDetails })).rejects.toThrow('plain');
    expect(operations(sandbox)).toEqual([]);
  });
});

describe('bad input', () => {
  const valid = orderInput('withdraw', 'w-1');
  const withOrder = (changes: object) => ({ order: { ...valid.order, ...changes } });

  test.for<[title: string, input: unknown, fields: string[]]>([
    ['no input', null, ['input']],
    ['a text as input', 'withdraw', ['input']],
    ['an amount as number', withOrder({ amount: 12.5 }), ['order.amount']],
    ['the id of a follow-up', withOrder({ order_id: 'w-1.r1' }), ['order.order_id']],
    ['two mistakes', withOrder({ amount: '-1', currency: '' }), ['order.currency', 'order.amount']],
  ])('%s: is InvalidOrder with the fields named, and nothing is sent', async ([, input, fields]) => {
    const { sandbox, run } = await openActivities();
    const failure = await failureOf(run('createOrder', attemptOf('withdraw', input)));
    expect(failure).toMatchObject({ type: 'InvalidOrder', nonRetryable: true });
    const [errors] = failure.details as [{ field: string }[]];
    expect(errors.map(({ field }) => field).sort()).toEqual([...fields].sort());
    for (const field of fields) expect(failure.message).toContain(field);
    expect(failure.message).not.toContain('4111111111111111');
    expect(sandbox.requests()).toEqual([]);
  });

  test('an account that this worker does not serve: is InvalidOrder', async () => {
    const { sandbox, run } = await openActivities();
    const failure = await failureOf(run('createOrder', attemptOf('withdraw', valid, { account: 'other' })));
    expect(failure).toMatchObject({ type: 'InvalidOrder', details: [[{ field: 'account' }]] });
    expect(sandbox.requests()).toEqual([]);
  });
});

describe('the checks against the rates', () => {
  const withOrder = (changes: object) => {
    const { order } = orderInput('withdraw', 'w-1');
    return { order: { ...order, ...changes } };
  };

  test.for([
    ['below the minimum', { amount: '0.5' }, 'order.amount'],
    ['above the maximum', { amount: '100001' }, 'order.amount'],
    ['too many decimals', { amount: '12.505' }, 'order.amount'],
    ['an unknown currency', { currency: 'xyz' }, 'order.currency'],
    ['a network that does not fit', { currency: 'btc', amount: '0.01' }, 'order.network'],
  ] as const)('%s: is InvalidOrder after the probe, and nothing is sent', async ([, changes, field]) => {
    const { sandbox, run } = await openActivities();
    const failure = await failureOf(run('createOrder', attemptOf('withdraw', withOrder(changes))));
    expect(failure).toMatchObject({ type: 'InvalidOrder', nonRetryable: true, details: [[{ field }]] });
    expect(operations(sandbox)).toEqual(['list']);
  });

  test.for(['500', '429', 'html', 'truncated', 'reset'])(
    'rates that answer %s: are skipped, and noted',
    async (fault) => {
      const { run } = await openActivities({ faults: { [`rates.${fault}`]: 1 } });
      const verdict = await run('createOrder', attemptOf('withdraw'));
      expect(verdict).toMatchObject({ kind: 'accepted', notes: [expect.stringContaining('rates')] });
      expect(verdict).not.toHaveProperty('payers');
    },
  );

  test('do not hold up an order that may exist already', async () => {
    const { run } = await openActivities();
    const attempt = attemptOf('withdraw', withOrder({ amount: '0.5' }), { permission: 'absent' });
    // Refused by the service itself, not by us.
    expect(await run('createOrder', attempt)).toMatchObject({ kind: 'rejected' });
  });

  test('ask for rates once for many orders', async () => {
    const { sandbox, run } = await openActivities();
    const inputs = ['w-1', 'w-2', 'w-3'].map((orderId) => attemptOf('withdraw', orderInput('withdraw', orderId)));
    await Promise.all(inputs.map((input) => run('createOrder', input)));
    expect(sandbox.requests().filter(({ path }) => path === '/v2/rates')).toHaveLength(1);
  });
});

describe('an order id that is used already', () => {
  test('by the same order: it is adopted and not sent again', async () => {
    const { sandbox, run } = await openActivities();
    await run('createOrder', attemptOf('withdraw'));
    expect(await run('createOrder', attemptOf('withdraw'))).toMatchObject({ kind: 'adopted' });
    expect(sandbox.stats().createsByOrderId['withdraw-1']).toBe(1);
  });

  test('by the same order in another form: it is adopted, because the id is of this one payment', async () => {
    const { sandbox, run } = await openActivities();
    const input = marked('after_ms=1000000 list=echo-no-wallet list_times=all');
    await run('createOrder', attemptOf('withdraw', input));
    expect(await run('createOrder', attemptOf('withdraw', input))).toMatchObject({ kind: 'adopted', soft: ['wallet'] });
    expect(sandbox.stats().createsByOrderId['w-1']).toBe(1);
  });

  test('by another payment: is a conflict that names the fields, and nothing is sent', async () => {
    const { sandbox, run } = await openActivities();
    await run('createOrder', attemptOf('withdraw', marked('after_ms=0')));
    const { order } = orderInput('withdraw', 'w-1');
    const other = { order: { ...order, amount: '99', wallet: '5555555555554444' } };
    const verdict = await run('createOrder', attemptOf('withdraw', other));
    expect(verdict).toMatchObject({ kind: 'conflict', differences: ['wallet', 'amount'] });
    expect(sandbox.stats().createsByOrderId['w-1']).toBe(1);
  });

  test('by two orders: they are named, and nothing is sent', async () => {
    const { sandbox, run } = await openActivities({ duplicateMode: 'c', faults: { 'list.unseen': 1 } });
    await run('createOrder', attemptOf('withdraw'));
    await run('createOrder', attemptOf('withdraw'));
    sandbox.set({ faults: {} });
    const uuids = sandbox.orders().map(({ order }) => order.order_uuid);
    const verdict = await run('createOrder', attemptOf('withdraw'));
    const all = expect.arrayContaining(uuids);
    expect(verdict).toMatchObject({ kind: 'duplicates', orderUuids: all, ours: all });
    expect(sandbox.stats().createsByOrderId['withdraw-1']).toBe(2);
  });
});
