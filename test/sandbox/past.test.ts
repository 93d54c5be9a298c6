import { expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/index.js';
import { call, create, type Item, start } from './sandbox.fixture.js';

const [FROM_MS, TO_MS] = [Date.UTC(2026, 9, 1), Date.UTC(2026, 9, 2)];
const COUNT = 120;

async function makePast(sandbox: Sandbox, past: unknown): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${sandbox.adminUrl}/past`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(past),
  });
  return { status: response.status, body: await response.json() };
}

const listed = async (sandbox: Sandbox): Promise<Item[]> =>
  (await call<Item[]>(sandbox, 'order/list', { limit: 1000 })).body.data;

const msOf = (at: string | null): number => Date.parse(`${at?.replace(' ', 'T')}Z`);

/** The changes as they follow each other; changes of one second are put where the balance before them leads. */
function chainOf(items: readonly Item[], from: string): string[] {
  const byBefore = new Map(
    items.flatMap(({ balance_changes }) => balance_changes).map((change) => [change.amount_before, change]),
  );
  const chain = [from];
  for (let next = byBefore.get(from); next; next = byBefore.get(next.amount_after)) {
    byBefore.delete(next.amount_before);
    chain.push(next.amount_after);
  }
  return chain;
}

test('payouts of the past are listed as completed, spread evenly over their time', async () => {
  const sandbox = await start();
  const past = { count: COUNT, fromMs: FROM_MS, toMs: TO_MS };
  expect(await makePast(sandbox, past)).toEqual({ status: 200, body: { orders: COUNT } });
  const items = await listed(sandbox);
  expect(new Set(items.map(({ user_order_id: id }) => id))).toEqual(
    new Set(Array.from({ length: COUNT }, (_, n) => `past-${n}`)),
  );
  expect(new Set(items.map(({ status, order_type: type }) => `${type} ${status}`))).toEqual(
    new Set(['withdraw completed']),
  );
  const created = items.map(({ created_at: at }) => msOf(at)).sort((a, b) => a - b);
  expect(created).toEqual(Array.from({ length: COUNT }, (_, n) => FROM_MS + (n * (TO_MS - FROM_MS)) / COUNT));
  const lasted = items.map(({ created_at, finalized_at }) => msOf(finalized_at) - msOf(created_at));
  expect(Math.min(...lasted)).toBeGreaterThanOrEqual(1_000);
  expect(Math.max(...lasted)).toBeLessThanOrEqual(600_000);
});

test('their balance changes are one chain to the balance of now, which later orders go on from', async () => {
  const sandbox = await start();
  const before = sandbox.ledger();
  await makePast(sandbox, { count: COUNT, fromMs: FROM_MS, toMs: TO_MS });
  const items = await listed(sandbox);
  const changes = items.flatMap(({ balance_changes }) => balance_changes);
  const chain = chainOf(items, before.usd ?? '');
  expect(chain).toHaveLength(changes.length + 1);
  expect(sandbox.ledger()).toEqual({ ...before, usd: chain.at(-1) });
  expect((await call(sandbox, 'balances')).body.data).toMatchObject({ usd: { amount: chain.at(-1) } });
  await create(sandbox, 'withdraw', 'later', { currency: 'usd', amount: 10 });
  sandbox.finishAll();
  const later = sandbox.orders().find(({ order }) => order.user_order_id === 'later');
  expect(later?.balance_changes[0]?.amount_before).toBe(chain.at(-1));
});
