import Big from 'big.js';
import { expect, test } from 'vitest';
import type { BalanceChange, DepositAddress, Sandbox } from '../../sandbox/index.js';
import { call, create, type Item, start, TYPES, until } from './sandbox.fixture.js';

const ORDERS = 300;
const FINAL = ['completed', 'completed_partially', 'canceled', 'error'];

/** Orders of every type and receipts, with partial ends, failures at every stage and other rates. */
async function busyRun(): Promise<Sandbox> {
  const outcomes = { completed_partially: 0.4, error: 0.1, canceled: 0.05 };
  const sandbox = await start({ seed: 'chain', settings: { outcomes, durationsMs: { pay: 1000, execute: 3000 } } });
  const { body } = await call<DepositAddress>(sandbox, 'deposit_address/create', {
    ...{ currency: 'usdt', network: 'tron', currency_to: 'eur' },
  });
  const markers = ['stage=after-deposit', 'stage=after-exchange', 'paid=0.93', 'rate=1.02', 'left=both'];
  await Promise.all(
    Array.from({ length: ORDERS - 50 }, (_, n) => {
      const type = TYPES[n % TYPES.length] ?? 'deposit';
      return create(sandbox, type, `o${n}`, { description: `[sandbox ${markers[n % markers.length]}]` });
    }),
  );
  for (let n = 0; n < 50; n += 1) sandbox.receiveDeposit({ addressUuid: body.data.uuid, amount: `${20 + n}.5` });
  await until(
    () => sandbox.orders(),
    (all) => all.length === ORDERS && all.every(({ order }) => FINAL.includes(order.status)),
    20_000,
  );
  return sandbox;
}

/** The one path from `from` over all changes, each beginning where the one before it ended; throws where it breaks off. */
function followChain(changes: readonly BalanceChange[], from: string): string {
  const byBefore = new Map<string, BalanceChange[]>();
  for (const change of changes) {
    byBefore.set(change.amount_before, [...(byBefore.get(change.amount_before) ?? []), change]);
  }
  // A balance may be reached twice, so this walks as one draws a figure in one line, closing loops where they are left.
  const open = [from];
  const walked: string[] = [];
  while (open.length > 0) {
    const at = open.at(-1) ?? '';
    const next = byBefore.get(at)?.pop();
    if (next) open.push(next.amount_after);
    else walked.push(open.pop() ?? '');
  }
  if (walked.length !== changes.length + 1)
    throw new Error(`${changes.length + 1 - walked.length} changes are off the chain`);
  return walked[0] ?? '';
}

test(`the balance changes of ${ORDERS} orders of all types are one gapless chain per currency that ends at the balance`, async () => {
  const before = (await start()).ledger();
  const sandbox = await busyRun();
  const items = (await call<Item[]>(sandbox, 'order/list', { limit: 1000 })).body.data;
  expect(items).toHaveLength(ORDERS);
  expect(new Set(items.map(({ status }) => status))).toEqual(new Set(FINAL));
  expect(new Set(items.map(({ order_type }) => order_type)).size).toBe(6);
  const changes = items.flatMap(({ balance_changes }) => balance_changes);
  for (const { amount_before, amount_change, amount_after } of changes) {
    expect(new Big(amount_before).plus(amount_change).eq(amount_after)).toBe(true);
  }
  const after = sandbox.ledger();
  let moved = 0;
  for (const [currency, balance] of Object.entries(after)) {
    const ofCurrency = changes.filter((change) => change.currency === currency);
    expect(followChain(ofCurrency, before[currency] ?? ''), currency).toBe(balance);
    const total = ofCurrency.reduce(
      (sum, { amount_change }) => sum.plus(amount_change),
      new Big(before[currency] ?? 0),
    );
    expect(total.toFixed()).toBe(balance);
    moved += ofCurrency.length > 0 ? 1 : 0;
  }
  expect(moved).toBeGreaterThan(4);
});

test('commissions that a merchant pays are changes of their own in the chain', async () => {
  const sandbox = await start();
  await create(sandbox, 'withdraw', 'w', { currency: 'usd', amount: 100 });
  const [item] = await until(
    () => sandbox.orders(),
    ([order]) => order?.order.status === 'completed',
  );
  expect(item?.balance_changes.map(({ amount_change }) => amount_change)).toEqual(['-100', '-2']);
  expect(item?.balance_changes[1]?.amount_before).toBe(item?.balance_changes[0]?.amount_after);
});

test('the walk finds a missing order', async () => {
  const sandbox = await start();
  for (const id of ['first', 'second', 'third']) await create(sandbox, 'withdraw', id);
  const orders = await until(
    () => sandbox.orders(),
    (all) => all.every(({ order }) => order.status === 'completed'),
  );
  const [first, second, third] = orders.map(({ balance_changes }) => balance_changes);
  const from = first?.[0]?.amount_before ?? '';
  expect(
    followChain(
      [first, third, second].flatMap((changes) => changes ?? []),
      from,
    ),
  ).toBe(sandbox.ledger().uah);
  expect(() =>
    followChain(
      [first, third].flatMap((changes) => changes ?? []),
      from,
    ),
  ).toThrow('1 changes are off');
});
