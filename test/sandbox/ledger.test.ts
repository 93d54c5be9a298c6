import Big from 'big.js';
import { expect, test } from 'vitest';
import { execute } from '../../sandbox/execution.js';
import type { Sandbox } from '../../sandbox/index.js';
import { LEFTOVERS, type Plan, STAGES } from '../../sandbox/plan.js';
import { quoteFrom } from '../../sandbox/quote.js';
import { TERMS, type Terms } from '../../sandbox/rates.js';
import {
  type BODIES,
  call,
  create,
  finalItem,
  type Item,
  type Payers,
  type Rates,
  start,
  TYPES,
} from './sandbox.fixture.js';

const sumOf = (changes: { currency: string; amount_change: string }[], currency: string): Big =>
  changes.filter((c) => c.currency === currency).reduce((sum, c) => sum.plus(c.amount_change), new Big(0));

/** R_F and R_T by the documented formulas, from what the service publishes. */
function remainders(item: Item, payers: Payers): { unexchanged: string; unpaid: string } {
  const netF = sumOf(item.balance_changes, item.currency_from);
  const netT = sumOf(item.balance_changes, item.currency_to);
  const apart = (payer: string | null, fee: string | null) => (payer === 'client' ? new Big(0) : new Big(fee ?? '0'));
  const feeF = apart(payers.fee_percent_from_payer, item.amount_from_fee);
  const feeT = apart(payers.fee_percent_to_payer, item.amount_to_fee);
  const requested = item.expected_amount_from;
  const [unexchanged, unpaid] = {
    deposit: () => [new Big(0), new Big(0)] as const,
    deposit_exchange: () => [netF.plus(feeF), new Big(0)] as const,
    deposit_exchange_withdraw: () => [netF.plus(feeF), netT.plus(feeT)] as const,
    exchange: () => [netF.plus(requested), new Big(0)] as const,
    exchange_withdraw: () => [netF.plus(requested), netT.plus(feeT)] as const,
    withdraw: () => [new Big(0), netT.plus(requested).plus(feeT)] as const,
  }[item.order_type as keyof typeof BODIES]();
  return { unexchanged: unexchanged.toFixed(), unpaid: unpaid.toFixed() };
}

const pairKeyOf = (item: Item): string => {
  const side = (currency: string, network: string | null) => (network ? `${currency}_${network}` : currency);
  if (item.order_type === 'deposit') return side(item.currency_from, item.network_from);
  const to = side(item.currency_to, item.network_to);
  return item.order_type === 'withdraw' ? to : `${side(item.currency_from, item.network_from)}-${to}`;
};

function expectDocumentedFigures(item: Item): void {
  const { amount_from: af, amount_to: at, amount_to_fee: feeT } = item;
  const netF = sumOf(item.balance_changes, item.currency_from);
  const netT = sumOf(item.balance_changes, item.currency_to);
  if (['exchange', 'exchange_withdraw'].includes(item.order_type)) expect(netF.neg().eq(af ?? '0')).toBe(true);
  if (['exchange', 'deposit_exchange'].includes(item.order_type)) expect(netT.eq(at ?? '0')).toBe(true);
  if (item.order_type === 'withdraw') expect(netT.neg().eq(new Big(at ?? '0').plus(feeT ?? '0'))).toBe(true);
  for (const change of item.balance_changes) {
    expect(new Big(change.amount_before).plus(change.amount_change).eq(change.amount_after)).toBe(true);
  }
}

async function ledgerOf(sandbox: Sandbox): Promise<Record<string, string>> {
  return (await fetch(`${sandbox.adminUrl}/ledger`)).json() as Promise<Record<string, string>>;
}

test('under random outcomes the balances and every remainder add up exactly', async () => {
  const outcomes = { completed_partially: 0.5, error: 0.15, canceled: 0.1 };
  const sandbox = await start({ seed: 'ledger', settings: { outcomes } });
  const before = await ledgerOf(sandbox);
  const ids = TYPES.flatMap((type) => Array.from({ length: 8 }, (_, n) => [type, `${type}-${n}`] as const));
  const stages = STAGES.map((stage) => `[sandbox stage=${stage}]`);
  await Promise.all(ids.map(([type, id], n) => create(sandbox, type, id, { description: stages[n % stages.length] })));
  const rates = (await call<Rates>(sandbox, 'rates')).body.data;
  const items: Item[] = [];
  for (const [, id] of ids) items.push(await finalItem(sandbox, id));

  expect(new Set(items.map(({ status }) => status)).size).toBe(4);
  const truth = new Map(sandbox.orders().map((order) => [order.order.order_uuid, order.truth]));
  for (const item of items) {
    expectDocumentedFigures(item);
    const payers = rates[item.order_type]?.[pairKeyOf(item)];
    expect(payers && remainders(item, payers)).toEqual(truth.get(item.order_uuid));
  }
  const changes = items.flatMap(({ balance_changes }) => balance_changes);
  const after = await ledgerOf(sandbox);
  for (const [currency, amount] of Object.entries(after)) {
    expect(
      sumOf(changes, currency)
        .plus(before[currency] ?? '0')
        .toFixed(),
    ).toBe(amount);
  }
});

const plans: Plan[] = [
  ...LEFTOVERS.map((left) => ({ outcome: 'completed_partially' as const, left })),
  ...STAGES.map((stage) => ({ outcome: 'error' as const, stage })),
  { outcome: 'completed' as const },
].flatMap((base) =>
  ['0.01', '0.37', '0.999', '1'].map((fraction) => ({
    outcome: base.outcome,
    stage: 'stage' in base ? base.stage : ('clean' as const),
    unexchanged: 'left' in base && base.left !== 'unpaid' ? fraction : '0',
    unpaid: 'left' in base && base.left !== 'unexchanged' ? fraction : '0',
    paid: fraction === '1' ? '1' : '1.1',
    rateFactor: fraction === '0.37' ? '0.98' : '1',
  })),
);

/** The list item an execution would be published as, as far as the formulas read it. */
function itemOf(terms: Terms, requested: string, plan: Plan): Item {
  const done = execute(terms, quoteFrom(requested, terms), plan);
  return {
    order_type: terms.orderType,
    currency_from: terms.currencyFrom,
    currency_to: terms.currencyTo,
    expected_amount_from: requested,
    amount_from: done.amountFrom,
    amount_to: done.amountTo,
    amount_from_fee: terms.feeFrom ? done.feeFrom : null,
    amount_to_fee: terms.feeTo ? done.feeTo : null,
    balance_changes: done.movements.map(({ currency, amount }) => ({ currency, amount_change: amount.toFixed() })),
  } as unknown as Item;
}

test('every pair, partial shape and stage gives back what is really left', () => {
  let checked = 0;
  for (const terms of TERMS.values()) {
    const requested = new Big(terms.min).times('137').toFixed();
    const payers = {
      fee_percent_from_payer: terms.feeFrom?.payer ?? null,
      fee_percent_to_payer: terms.feeTo?.payer ?? null,
    };
    for (const plan of plans) {
      const done = execute(terms, quoteFrom(requested, terms), plan);
      const { unexchanged, unpaid } = done;
      expect(remainders(itemOf(terms, requested, plan), payers)).toEqual({ unexchanged, unpaid });
      if (plan.outcome === 'completed') expect({ unexchanged, unpaid }).toEqual({ unexchanged: '0', unpaid: '0' });
      checked += 1;
    }
  }
  expect(checked).toBe(TERMS.size * plans.length);
});

test('a withdraw that the balance does not cover ends error and changes nothing', async () => {
  const sandbox = await start({ settings: { balances: { uah: '500' } } });
  await create(sandbox, 'withdraw', 'too-much');
  const item = await finalItem(sandbox, 'too-much');
  expect(item).toMatchObject({
    status: 'error',
    balance_changes: [],
    amount_to: null,
    blockchain_withdrawal_hash: null,
  });
  expect((await ledgerOf(sandbox)).uah).toBe('500');
});

test('with overdraft allowed the debt shows in the balances', async () => {
  const sandbox = await start({ settings: { balances: { uah: '500' }, overdraft: true } });
  await create(sandbox, 'withdraw', 'debt');
  expect((await finalItem(sandbox, 'debt')).status).toBe('completed');
  const { body } = await call(sandbox, 'balances');
  expect(body.data).toMatchObject({ uah: { amount: '0', overdraft: '500' } });
});
