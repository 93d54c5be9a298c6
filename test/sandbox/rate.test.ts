import { expect, test } from 'vitest';
import { Traffic } from '../../sandbox/traffic.js';
import { call, start } from './sandbox.fixture.js';

const at = (atMs: number, status = 200) => ({ atMs, path: '/v2/rates', status });

test.each([
  [1, 2],
  [1_000, 3],
  [1_001, 4],
  [60_000, 5],
])('the busiest %d ms are found wherever they begin', (windowMs, most) => {
  const traffic = new Traffic(undefined);
  for (const atMs of [100, 900, 900, 1_100, 20_000]) traffic.request(at(atMs));
  expect(traffic.busiest(windowMs)).toBe(most);
});

/** A burst at a sandbox of its own; one that a busy machine stretched over more than a second is none, and is made again. */
async function burstWithinASecond() {
  for (;;) {
    const sandbox = await start({ settings: { requestsPerSecond: 10 } });
    const burst = await Promise.all(Array.from({ length: 25 }, () => call(sandbox, 'rates')));
    if (sandbox.requestRate(1_000).busiest === 25) return { sandbox, burst };
  }
}

test('above requestsPerSecond the answer is 429 with Retry-After, counted as refused; a second later requests pass', async () => {
  const { sandbox, burst } = await burstWithinASecond();
  const refused = burst.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(15);
  for (const { headers } of refused) expect(headers.get('retry-after')).toBe('1');
  const { perSecond, busiest } = sandbox.requestRate(1_000);
  expect(busiest).toBe(25);
  expect(perSecond.reduce((total, second) => total + second.refused, 0)).toBe(15);
  expect(sandbox.requests().filter(({ fault }) => fault === 'rate-limit')).toHaveLength(15);
  await new Promise((resolve) => setTimeout(resolve, 1_000 * Number(refused[0]?.headers.get('retry-after'))));
  expect((await call(sandbox, 'rates')).status).toBe(200);
});
