import { expect, test } from 'vitest';
import { figuresOf } from '../../bench/parts/batches.js';
import { latenciesOf } from '../../bench/parts/waiting.js';

const at = (atMs: number, path: string, orderId?: string) => ({
  atMs,
  path: `/v2/order/${path}`,
  orderId,
  status: 200,
});

test('rows a second are reckoned from the first create to the last, requests from all that came', () => {
  const creates = Array.from({ length: 11 }, (_, n) => at(1_000 + n * 500, 'withdraw', `o-${n}`));
  const figures = figuresOf([at(0, 'list'), ...creates, at(9_000, 'status', 'o-1')], 4);
  expect(figures).toMatchObject({ rows: 11, rowsPerSecond: 2, requestsPerRow: 13 / 11 });
  // 11 requests within 5 s, 20 allowed; 10 of them within any 5 s.
  expect(figures).toMatchObject({ ofLimit: 11 / 5 / 4, worstWindow: 10 / 20 });
});

test('without a limit nothing is said of one', () => {
  expect(figuresOf([at(0, 'withdraw'), at(1_000, 'withdraw')], 0)).not.toHaveProperty('worstWindow');
});

test('latency counts from when an order was final, 900 ms after its create, and of orders that had a result only', () => {
  const arrivals = [at(1_000, 'list', 'a'), at(1_010, 'withdraw', 'a'), at(1_020, 'withdraw', 'b'), at(1_030, 'list')];
  expect(latenciesOf(new Map([['a', 2_000]]), arrivals)).toEqual([90]);
});
