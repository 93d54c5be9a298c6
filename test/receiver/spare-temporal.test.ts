import { expect, test } from 'vitest';
import type { SignalResult } from '../../src/receiver/signal-order.js';
import { createSignalLimit, SIGNAL_BURST, spareTemporal } from '../../src/receiver/spare-temporal.js';
import { ORDER } from './receiver-fixture.js';

const MINUTE_MS = 60_000;

test('an order may be signalled 120 times at once, then once every 10 minutes, full again after 20 hours', () => {
  let now = 5_000;
  const allow = createSignalLimit(() => now);
  const allowedOf = (attempts: number): number =>
    Array.from({ length: attempts }, () => allow('a')).filter(Boolean).length;
  expect(allowedOf(500)).toBe(SIGNAL_BURST);
  now += 9 * MINUTE_MS;
  expect(allowedOf(5)).toBe(0);
  now += 1 * MINUTE_MS;
  expect(allowedOf(5)).toBe(1);
  now += 20 * 60 * MINUTE_MS;
  expect(allowedOf(500)).toBe(SIGNAL_BURST);
});

test('one flooded order does not slow another down', () => {
  const allow = createSignalLimit();
  while (allow('flooded'));
  expect(allow('other')).toBe(true);
});

test('identical callbacks share the signal in flight and its failure', async () => {
  const answers: PromiseWithResolversOf<SignalResult>[] = [];
  const signal = spareTemporal(() => {
    const answer = withResolvers<SignalResult>();
    answers.push(answer);
    return answer.promise;
  });
  const first = signal(ORDER, { status: 'completed' });
  const second = signal(ORDER, { status: 'completed' });
  expect(answers).toHaveLength(1);
  answers[0]?.reject(new Error('unreachable'));
  await expect(first).rejects.toThrow('unreachable');
  await expect(second).rejects.toThrow('unreachable');
  // The failure is not remembered.
  const third = signal(ORDER, { status: 'completed' });
  expect(answers).toHaveLength(2);
  answers[1]?.resolve('delivered');
  expect(await third).toBe('delivered');
});

test('callbacks that differ in order, account or claim do not share a signal', async () => {
  let signals = 0;
  const signal = spareTemporal(async () => {
    signals += 1;
    return 'delivered';
  });
  await Promise.all([
    signal(ORDER, { status: 'completed' }),
    signal(ORDER, { status: 'error' }),
    signal(ORDER, { order_uuid: 'completed' }),
    signal({ ...ORDER, orderId: 'invoice-2' }, { status: 'completed' }),
    signal({ ...ORDER, account: 'second' }, { status: 'completed' }),
  ]);
  expect(signals).toBe(5);
});

interface PromiseWithResolversOf<T> {
  promise: Promise<T>;
  resolve(value: T): void;
  reject(error: Error): void;
}

function withResolvers<T>(): PromiseWithResolversOf<T> {
  let settle: Pick<PromiseWithResolversOf<T>, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  if (!settle) throw new Error('a promise calls its executor at once');
  return { promise, ...settle };
}
