import { chance } from './chance.js';
import { dateTime } from './clock.js';
import { execute } from './execution.js';
import { type Decimal, text } from './money.js';
import { newOrder } from './new-order.js';
import { createOrderObject, finalFields } from './orders.js';
import type { StoredOrder } from './stored.js';
import type { World } from './world.js';

/** Payouts that were made before this sandbox was asked for anything; times in ms since the epoch. */
export interface Past {
  count: number;
  /** They are created evenly from then on, and before `toMs`; each ends within ten minutes. */
  fromMs: number;
  toMs: number;
  /** Order id of the n-th, counted from 0; `past-<n>` when left out. */
  idOf?: (n: number) => string;
}

const LONGEST_MS = 600_000;

/**
 * Makes completed payouts of the past, whose balance changes form one chain in the order of their ends and lead to the
 * balance of now. Throws RangeError where there are orders already: their changes would not fit behind.
 */
export function addPast(world: World, { count, fromMs, toMs, idOf = (n) => `past-${n}` }: Past): number {
  const { store, options } = world;
  if (store.orders.size > 0) throw new RangeError('there are orders already');
  if (!(Number.isSafeInteger(count) && count > 0 && fromMs < toMs)) throw new RangeError('no orders in no time');
  const begun = Array.from({ length: count }, (_, n) => {
    const createdAtMs = fromMs + Math.floor(((toMs - fromMs) * n) / count);
    const lastsMs = 1_000 + Math.floor(chance(options.seed, `past ${n}`) * (LONGEST_MS - 1_000));
    return begin(world, idOf(n), createdAtMs, createdAtMs + lastsMs);
  });
  const ended = book(world, begun);
  for (const { order } of begun) {
    const stored = ended.get(order.order_uuid);
    if (stored) store.keep({ kind: 'order', order: stored });
  }
  // Kept in the order of their creation, while the last one to end left the balance as it is.
  const balances = balancesAfter(begun, ended);
  store.keep({ kind: 'balances', balances, atMs: Date.now() });
  return ended.size;
}

function begin(world: World, orderId: string, createdAtMs: number, finalAtMs: number): StoredOrder {
  const body = { order_id: orderId, currency: 'usd', network: 'card', amount: '12.50', wallet: '4000000000000002' };
  const made = newOrder(world, 'withdraw', body, { outcome: 'completed' });
  return {
    order: createOrderObject(made, createdAtMs, createdAtMs),
    key: made.key,
    balanceChanges: [],
    callbackUrl: null,
    terms: made.terms,
    quote: made.quote,
    plan: made.plan,
    createdAtMs,
    startAtMs: createdAtMs,
    payAtMs: createdAtMs,
    finalAtMs,
    truth: { unexchanged: '0', unpaid: '0' },
  };
}

const byEnd = (a: StoredOrder, b: StoredOrder): number => a.finalAtMs - b.finalAtMs;

/** The orders as they ended, by their uuid. */
function book({ store }: World, begun: readonly StoredOrder[]): Map<string, StoredOrder> {
  const balances = new Map<string, Decimal>();
  const ended = [...begun].sort(byEnd).map((stored): [string, StoredOrder] => {
    const done = execute(stored.terms, stored.quote, stored.plan);
    const balanceChanges = done.movements.map(({ currency, amount }) => {
      const before = balances.get(currency) ?? store.ledger.balance(currency);
      const after = before.plus(amount);
      balances.set(currency, after);
      const [amount_before, amount_change, amount_after] = [text(before), text(amount), text(after)];
      return { currency, amount_before, amount_change, amount_after, created_at: dateTime(stored.finalAtMs) };
    });
    const order = { ...stored.order, ...finalFields(stored, done, stored.finalAtMs) };
    return [order.order_uuid, { ...stored, order, balanceChanges }];
  });
  return new Map(ended);
}

function balancesAfter(begun: readonly StoredOrder[], ended: ReadonlyMap<string, StoredOrder>): Record<string, string> {
  const last: Record<string, string> = {};
  for (const { order } of [...begun].sort(byEnd)) {
    for (const change of ended.get(order.order_uuid)?.balanceChanges ?? []) last[change.currency] = change.amount_after;
  }
  return last;
}
