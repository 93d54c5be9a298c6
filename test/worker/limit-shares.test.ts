import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Limiter } from '../../src/payment-service/limiter.js';
import type { SeenQueue } from '../../src/temporal/pollers.js';
import { LimitShare, newIdentity, shareOf } from '../../src/worker/limit-shares.js';

const REFRESH_MS = 5_000;

/** What the server shows of workers that polled at these times, in seconds. */
const seen = (polledAt: Record<string, number>, limit?: number): SeenQueue => ({
  pollers: new Map(Object.entries(polledAt)),
  limit,
});

describe('a worker’s share', () => {
  test.each([
    [8, 1, 7.44],
    [8, 2, 3.72],
    [8, 8, 0.78],
    [40, 2, 18.6],
    [1, 2, 0.29],
  ])('of %d requests a second among %d is %d', (limit, workers, expected) => {
    expect(shareOf(limit, workers)).toBeCloseTo(expected, 2);
  });

  test('is whole at once for the one that finds itself alone, and nearly nothing before that', () => {
    const share = new LimitShare('a', 40);
    expect(share.rate(seen({}), 0)).toBeCloseTo(0.8);
    expect(share.rate(seen({ a: 1 }), 500)).toBeCloseTo(37.2);
  });

  test('is nearly nothing for one that joins others, until they must have noticed it', () => {
    const share = new LimitShare('b', 40);
    expect(share.rate(seen({ a: 1, b: 1 }), 0)).toBeCloseTo(0.8);
    expect(share.rate(seen({ a: 2, b: 2 }), 5_000)).toBeCloseTo(0.8);
    expect(share.rate(seen({ a: 3, b: 3 }), 10_000)).toBeCloseTo(18.6);
  });

  test('is that of one more as soon as another one is seen, and grows only 90 s after its last poll', () => {
    const share = new LimitShare('a', 40);
    expect(share.rate(seen({ a: 1 }), 0)).toBeCloseTo(37.2);
    expect(share.rate(seen({ a: 2, b: 1 }), 5_000)).toBeCloseTo(18.6);
    expect(share.rate(seen({ a: 70, b: 1 }), 70_000)).toBeCloseTo(18.6);
    expect(share.rate(seen({ a: 94, b: 1 }), 94_000)).toBeCloseTo(18.6);
    expect(share.rate(seen({ a: 95, b: 1 }), 95_000)).toBeCloseTo(37.2);
  });

  test('goes down where the server has not heard of the worker for 75 s: before the others can count it out', () => {
    const share = new LimitShare('a', 40);
    expect(share.rate(seen({ a: 1, b: 1 }), 0)).toBeCloseTo(0.8);
    expect(share.rate(seen({ a: 1, b: 2 }), 74_000)).toBeCloseTo(18.6);
    expect(share.rate(seen({ a: 1, b: 3 }), 75_000)).toBeCloseTo(0.8);
  });

  test('is of the limit that an operator set on the queue, where there is one', () => {
    const share = new LimitShare('a', 40);
    expect(share.rate(seen({ a: 1 }, 8), 0)).toBeCloseTo(7.44);
    expect(share.rate(seen({ a: 2 }), 5_000)).toBeCloseTo(37.2);
    const unlimited = new LimitShare('a', undefined);
    expect(unlimited.rate(seen({ a: 1 }), 0)).toBeUndefined();
    expect(unlimited.rate(seen({ a: 2 }, 8), 5_000)).toBeCloseTo(7.44);
  });
});

describe('the other workers of an account', () => {
  const othersOf = (share: LimitShare) => share.others.map(({ identity, isProven }) => `${identity} ${isProven}`);

  test('are not proven to run before they poll again, where the first look shows them', () => {
    const share = new LimitShare('a', undefined);
    share.rate(seen({ gone: 1, b: 2 }), 0);
    expect(othersOf(share)).toEqual(['gone false', 'b false']);
    share.rate(seen({ gone: 1, b: 50, a: 3, c: 4 }), 50_000);
    expect(othersOf(share)).toEqual(['gone false', 'b true', 'c true']);
    share.rate(seen({ gone: 1, b: 50, a: 90, c: 4 }), 90_000);
    expect(othersOf(share)).toEqual(['b true', 'c true']);
  });
});

test('two workers of one host and process id have different identities', () => {
  expect(newIdentity()).not.toBe(newIdentity());
});

describe('while workers come and go', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const worker = fc.record({
    startMs: fc.integer({ min: 0, max: 60_000 }),
    lifeMs: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.integer({ min: 5_000, max: 60_000 })),
    lateMs: fc.integer({ min: 0, max: 150 }),
  });

  test('requests that all want to be sent at once, and arrive late by chance, stay below 1.05 times the limit over 5 s', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(8, 20, 40),
        fc.array(worker, { minLength: 1, maxLength: 3 }),
        async (limit, workers) => {
          const arrivals = await arrivalsOf(limit, workers);
          expect(busiestIn(arrivals)).toBeLessThanOrEqual(limit * 5 * 1.05);
        },
      ),
      { numRuns: 25 },
    );
  });

  interface Life {
    startMs: number;
    lifeMs: number;
    lateMs: number;
  }

  /** When requests reach the service, of workers that always have some to send, over two minutes and a half. */
  async function arrivalsOf(limit: number, workers: readonly Life[]): Promise<number[]> {
    const polled = new Map<string, number>();
    const arrivals: number[] = [];
    const begunMs = performance.now();
    const nowMs = () => performance.now() - begunMs;
    const limiters: Limiter[] = [];
    for (const [index, { startMs, lifeMs, lateMs }] of workers.entries()) {
      const identity = `worker ${index}`;
      setTimeout(() => {
        const limiter = new Limiter(limit);
        limiters.push(limiter);
        const share = new LimitShare(identity, limit);
        limiter.setRate(share.unnoticed);
        const refresh = () => limiter.setRate(share.rate({ pollers: new Map(polled) }, nowMs()));
        const poll = () => polled.set(identity, nowMs());
        poll();
        const timers = [setInterval(refresh, REFRESH_MS), setInterval(poll, 50_000)];
        setTimeout(refresh, 500);
        const dies = new AbortController();
        const send = async (): Promise<void> => {
          await limiter.turn('scan', { signal: dies.signal });
          setTimeout(() => arrivals.push(nowMs()), Math.random() * lateMs);
        };
        const keepSending = () =>
          limiter.turn('create', { signal: dies.signal }).then(
            () => {
              setTimeout(() => arrivals.push(nowMs()), Math.random() * lateMs);
              keepSending();
            },
            () => (dies.signal.aborted ? undefined : void setTimeout(keepSending, 100)),
          );
        for (let n = 0; n < 3; n += 1) keepSending();
        void send().catch(() => undefined);
        if (lifeMs === Number.POSITIVE_INFINITY) return;
        setTimeout(() => {
          for (const timer of timers) clearInterval(timer);
          dies.abort();
        }, lifeMs);
      }, startMs);
    }
    await vi.advanceTimersByTimeAsync(150_000);
    vi.clearAllTimers();
    return arrivals.sort((one, other) => one - other);
  }

  /** The most arrivals in any 5 s. */
  function busiestIn(arrivals: readonly number[]): number {
    let most = 0;
    for (let from = 0, to = 0; to < arrivals.length; to += 1) {
      while ((arrivals[to] ?? 0) - (arrivals[from] ?? 0) >= 5_000) from += 1;
      most = Math.max(most, to - from + 1);
    }
    return most;
  }
});
