import { ApplicationFailureCategory } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { pollDelayMs } from '../../../src/activities/order/poll-order.js';
import type { PollInput } from '../../../src/contract/order/activities.js';
import { Limiter } from '../../../src/payment-service/limiter.js';
import { orderInput } from '../../support/inputs.js';
import {
  attemptOf,
  ELSEWHERE,
  failureOf,
  openActivities,
  operations,
  PACE,
  UNCLEAR_FAULTS,
} from '../activity-lab.fixture.js';

/** A lab with one order, and the input that polls it. */
async function withOrder(
  marker: string,
  changes: Partial<PollInput> = {},
  options: Parameters<typeof openActivities>[1] = {},
) {
  const lab = await openActivities({}, options);
  const created = await lab.run('createOrder', attemptOf('withdraw', orderInput('withdraw', 'w-1', { marker })));
  const orderUuid = 'order' in created ? created.order.order_uuid : '';
  const input = { account: 'default', orderId: 'w-1', orderUuid, ...changes };
  return { ...lab, input, polls: () => operations(lab.sandbox).filter((operation) => operation === 'status').length };
}

const OPEN = 'after_ms=1000000';

describe('a poll', () => {
  test('of an order that is not final comes back, with the status in words', async () => {
    const { run, input, polls } = await withOrder(OPEN);
    const failure = await failureOf(run('pollOrder', input, { attempt: 1 }));
    expect(failure).toMatchObject({
      category: ApplicationFailureCategory.BENIGN,
      message: expect.stringContaining('processing'),
    });
    expect(failure.nonRetryable).not.toBe(true);
    expect(polls()).toBe(1);
  });

  test.for([
    [1, 10_000],
    [2, 20_000],
    [3, 40_000],
    [6, 300_000],
    [7, 300_000],
    [5_000, 300_000],
  ])('at attempt %i comes back after at most %i ms, and a tenth less', async ([attempt = 0, longestMs = 0]) => {
    const { run, input } = await withOrder(OPEN);
    const { nextRetryDelay } = await failureOf(run('pollOrder', input, { attempt }));
    expect(nextRetryDelay).toBeLessThanOrEqual(longestMs);
    expect(nextRetryDelay).toBeGreaterThanOrEqual(0.9 * longestMs);
  });

  test('spreads its delay over a tenth', () => {
    expect(pollDelayMs(PACE, 2, 0)).toBe(20_000);
    expect(pollDelayMs(PACE, 2, 1)).toBe(18_000);
  });

  test('has had no wait before it where the first one is too short for a timer', () => {
    const pace = { ...PACE, pollInitialMs: 500 };
    expect([1, 2, 3].map((attempt) => pollDelayMs(pace, attempt, 0))).toEqual([500, 1_000, 2_000]);
  });

  test('waits within its first attempt where waits are shorter than a second, and then as long as before', async () => {
    const pace = { ...PACE, pollInitialMs: 10 };
    const { run, input, polls } = await withOrder(OPEN, {}, { pace });
    const { nextRetryDelay } = await failureOf(run('pollOrder', input, { attempt: 1 }));
    expect(polls()).toBe(5);
    expect(nextRetryDelay).toBeLessThanOrEqual(160);
    expect(nextRetryDelay).toBeGreaterThanOrEqual(144);
    const second = await failureOf(run('pollOrder', input, { attempt: 2 }));
    expect(polls()).toBe(6);
    expect(second.nextRetryDelay).toBeGreaterThanOrEqual(288);
  });

  test('ends within its first attempt with the status that it meets there', async () => {
    const pace = { ...PACE, pollInitialMs: 10 };
    const { run, input, polls } = await withOrder('after_ms=1000000 after_looks=3', {}, { pace });
    expect(await run('pollOrder', input, { attempt: 1 })).toMatchObject({ status: 'completed' });
    expect(polls()).toBe(3);
  });

  test.for([
    ['without an answer', 'status=500 status_times=all', new Limiter()],
    ["under the account's limit", OPEN, new Limiter(100)],
  ] as const)('%s comes back after one poll also where waits are short', async ([_, marker, limiter]) => {
    const { run, input, polls } = await withOrder(marker, {}, { pace: { ...PACE, pollInitialMs: 10 }, limiter });
    const { nextRetryDelay } = await failureOf(run('pollOrder', input, { attempt: 1 }));
    expect(polls()).toBe(1);
    expect(nextRetryDelay).toBeLessThanOrEqual(10);
  });

  test.for(['completed', 'completed_partially', 'canceled', 'error'])(
    'of an order that is %s returns it',
    async (outcome) => {
      const { run, input } = await withOrder(`outcome=${outcome} after_ms=0`);
      expect(await run('pollOrder', input, { attempt: 1 })).toMatchObject({ status: outcome, user_order_id: 'w-1' });
    },
  );

  test('by order id, where no order_uuid is known, returns the order', async () => {
    const { run, input } = await withOrder('after_ms=0', { orderUuid: undefined });
    expect(await run('pollOrder', { ...input, orderUuid: undefined }, { attempt: 1 })).toMatchObject({
      status: 'completed',
    });
  });

  test('returns an undocumented status once and then tolerates it', async () => {
    const { run, input } = await withOrder('status=unknown-status status_times=all');
    expect(await run('pollOrder', input, { attempt: 1 })).toMatchObject({ status: 'on_hold' });
    expect(await failureOf(run('pollOrder', { ...input, tolerateAll: true }, { attempt: 1 }))).toMatchObject({
      category: ApplicationFailureCategory.BENIGN,
      message: expect.stringContaining('on_hold'),
    });
  });
});

describe('a poll without an answer', () => {
  test.for(UNCLEAR_FAULTS)('%s: comes back in the pace of the polling', async (fault) => {
    const { run, input } = await withOrder(`status=${fault} status_times=all`);
    const failure = await failureOf(run('pollOrder', input, { attempt: 2 }));
    expect(failure.nonRetryable).not.toBe(true);
    expect(failure.nextRetryDelay).toBeGreaterThanOrEqual(18_000);
    expect(failure.nextRetryDelay).toBeLessThanOrEqual(20_000);
  });

  test('429: comes back when the service says', async () => {
    const { run, input } = await withOrder('status=429 retry_after=42 status_times=all');
    expect(await failureOf(run('pollOrder', input, { attempt: 2 }))).toMatchObject({ nextRetryDelay: 42_000 });
  });

  test('an order that is not shown right now: comes back', async () => {
    const { run, input } = await withOrder('status=unseen');
    const failure = await failureOf(run('pollOrder', input, { attempt: 2 }));
    expect(failure.category).toBe(ApplicationFailureCategory.BENIGN);
    expect(failure.nextRetryDelay).toBeGreaterThanOrEqual(18_000);
  });

  test('another order: is no reading, and comes back in the pace of the polling', async () => {
    const { run, input } = await withOrder('status=crossed status_times=all');
    const failure = await failureOf(run('pollOrder', input, { attempt: 2 }));
    expect(failure.type).toBe('MalformedResponseError');
    expect(failure.nextRetryDelay).toBeGreaterThanOrEqual(18_000);
  });

  test('another endpoint: is not even asked', async () => {
    const { run, input, polls } = await withOrder(OPEN, { sentTo: ELSEWHERE });
    expect(await failureOf(run('pollOrder', input, { attempt: 1 }))).toMatchObject({ type: 'Elsewhere' });
    expect(polls()).toBe(0);
  });
});
