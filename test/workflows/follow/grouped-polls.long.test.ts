import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';

const WAITING = 60;
/** Time between two polls of an order, of which each may wait a tenth for others. */
const ROUND_MS = 5_000;
const ROUNDS = 3;
/** They are open for as long as they are counted, also on a machine that does other things. */
const OPEN_MS = 120_000;

const lab = useLab({
  groups: true,
  sandbox: { settings: { callbacks: { enabled: false } } },
  pace: { pollInitialMs: ROUND_MS, pollMaxMs: ROUND_MS },
});

test('many waiting orders take few requests, also while one of them is slow, and each comes to its own end', async () => {
  const ids = Array.from({ length: WAITING }, () => newOrderId('waiting'));
  const handles = await Promise.all(
    ids.map((id, n) => {
      const own = n === 0 ? 'list=malformed status=slow slow_ms=3000 status_times=all' : '';
      const outcome = n % 10 === 1 ? 'error' : 'completed';
      const marker = `after_ms=${OPEN_MS} outcome=${outcome} ${own}`;
      return lab.orders.start('withdraw', orderInput('withdraw', id, { marker }));
    }),
  );
  await vi.waitFor(() => expect(lab.sandbox.orders()).toHaveLength(WAITING), 60_000);
  // Each has been polled once.
  await sleep(ROUND_MS);
  const asked = () => lab.sandbox.requests().filter(({ path }) => /order\/(status|list)$/.test(path)).length;
  const before = asked();
  await sleep(ROUNDS * ROUND_MS);
  const perRound = (asked() - before) / ROUNDS;
  expect(lab.sandbox.orders().filter(({ order }) => order.status === 'processing')).toHaveLength(WAITING);
  // 11 groups of half a second, what the slow one asks alone, and who comes when nobody else does.
  expect(perRound).toBeLessThan(25);
  expect(perRound).toBeGreaterThan(1);
  const ends = await Promise.all(handles.map((handle) => handle.result()));
  const outcomes = ends.map(({ outcome, order }) => [order.user_order_id, outcome]);
  expect(outcomes).toEqual(ids.map((id, n) => [id, n % 10 === 1 ? 'error' : 'completed']));
  expect(lab.sandbox.stats().executedByOrderId).toEqual(Object.fromEntries(ids.map((id) => [id, 1])));
});
