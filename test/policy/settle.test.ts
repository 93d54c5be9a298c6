import { expect, test } from 'vitest';
import { settlementOf, spentOf } from '../../src/activities/policy/settle.js';
import { judge, openLedger, reserveOrder, settle } from '../../src/contract/policy/ledger.js';
import type { Order } from '../../src/contract/service-objects.js';

/** A final order of 100 usd for usdt, paid out. */
const exchanged = (change: Partial<Order> = {}) =>
  ({
    ...{ order_type: 'exchange_withdraw', status: 'completed', user_order_id: 'a', order_uuid: 'u' },
    ...{ currency_from: 'usd', currency_to: 'usdt', network_to: 'tron', strict_withdrawal_amount: true },
    ...{ expected_amount_from: '100', amount_from: '100', expected_amount_to: '98', amount_to: '98' },
    ...change,
  }) as Order;

test('what could not be estimated counts once the order shows it', () => {
  const reserved = [
    ['usdt', '98'],
    ['usdt p', '98'],
    ['# p', '1'],
  ] as const;
  expect(spentOf(reserved, { outcome: 'completed', order: exchanged() })).toEqual([...reserved, ['usd', '100']]);
  const other = exchanged({ strict_withdrawal_amount: false });
  expect(
    spentOf(
      [
        ['usd', '100'],
        ['# p', '1'],
      ],
      { outcome: 'completed', order: other },
    ),
  ).toEqual([
    ['usd', '100'],
    ['# p', '1'],
    ['usdt', '98'],
    ['usdt p', '98'],
  ]);
});

test.for<[string, Partial<Order>, [string, string][]]>([
  [
    'partly',
    { amount_from: '50', amount_to: '49' },
    [
      ['usd', '50'],
      ['usdt', '49'],
      ['usdt p', '49'],
      ['# p', '1'],
    ],
  ],
  ['with nothing paid', { amount_from: '100', amount_to: '0' }, [['usd', '100']]],
  ['with nothing', { amount_from: '0', amount_to: '0' }, []],
  ['with figures below zero', { amount_from: '-5', amount_to: '-1' }, []],
  [
    'with unknown figures',
    { amount_from: null, amount_to: null },
    [
      ['usd', '100'],
      ['usdt', '98'],
      ['usdt p', '98'],
      ['# p', '1'],
    ],
  ],
])('an order that executed %s counts so', ([, figures, counted]) => {
  const reserved = [
    ['usd', '100'],
    ['usdt', '98'],
    ['usdt p', '98'],
    ['# p', '1'],
  ] as const;
  const order = exchanged({ status: 'completed_partially', ...figures });
  expect(spentOf(reserved, { outcome: 'completed_partially', order })).toEqual(counted);
});

/** A payout of 900 usd. */
const paid = (change: Partial<Order> = {}) =>
  exchanged({
    ...{ order_type: 'withdraw', currency_to: 'usd', strict_withdrawal_amount: false },
    ...{ expected_amount_from: '900', amount_from: '900', expected_amount_to: '900', amount_to: '900' },
    ...change,
  });
const ONE_USD = [
  ['usd', '1'],
  ['usd p', '1'],
  ['# p', '1'],
] as const;
const counts = (amount: string) => [
  ['usd', amount],
  ['usd p', amount],
  ['# p', '1'],
];

test('an adopted order counts by what the service shows, not by the request', () => {
  expect(spentOf(ONE_USD, { outcome: 'completed', order: paid() })).toEqual(counts('900'));
  const partly = paid({ status: 'completed_partially', amount_from: '450', amount_to: '450' });
  expect(spentOf(ONE_USD, { outcome: 'completed_partially', order: partly })).toEqual(counts('450'));
  const unknown = paid({ status: 'error', amount_from: null, amount_to: null });
  expect(spentOf(ONE_USD, { outcome: 'error', order: unknown })).toEqual(counts('900'));
  const inEur = paid({ currency_from: 'eur', currency_to: 'eur' });
  expect(spentOf(ONE_USD, { outcome: 'completed', order: inEur })).toContainEqual(['eur', '900']);
});

test.for<[string, Partial<Order>, boolean]>([
  ['completed', { amount_to: null }, true],
  ['completed_partially', {}, true],
  ['completed_partially', { amount_from: null, amount_to: null }, false],
  ['canceled', { amount_from: null, amount_to: null }, false],
])('a payee of an order that is %s with %j was paid before: %j', ([outcome, figures, isPaid]) => {
  const ledger = openLedger();
  reserveOrder(ledger, 'a', ONE_USD, 0);
  settle(ledger, settlementOf('a', ONE_USD, { outcome, order: paid({ status: outcome, ...figures }) } as never));
  expect(Object.keys(ledger.paid)).toEqual(isPaid ? ['p'] : []);
  expect(ledger.sums['# p']).toEqual({ 0: '1' });
});

test('a commission beside the amount does not count', () => {
  const order = paid({ expected_amount_from: '918', amount_from: '918' });
  const reserved = [['usd', '900']] as const;
  expect(spentOf(reserved, { outcome: 'completed', order })).toEqual(reserved);
});

test('an overpaid deposit counts by what it paid out', () => {
  const order = paid({
    ...{ order_type: 'deposit_exchange_withdraw', currency_from: 'eur' },
    ...{ expected_amount_from: '1', expected_amount_to: '1', amount_from: '5', amount_to: '5' },
  });
  expect(spentOf(ONE_USD, { outcome: 'completed', order })).toEqual(counts('5'));
});

test('a remainder above the amount never makes other orders count less', () => {
  const result = { outcome: 'completed_partially', order: exchanged({ amount_from: null, amount_to: null }) } as const;
  const remainder = [{ kind: 'unpaid' as const, currency: 'usdt', amount: '500' }];
  expect(spentOf([['usdt', '98']], { ...result, remainder })).toEqual([]);
});

test.for(['constructor', '__proto__', 'toString'])('%s is a currency and an id as any other', (name) => {
  const ledger = openLedger(JSON.parse(JSON.stringify(openLedger())));
  const limits = [{ key: name, windowMs: 3_600_000, max: '10' }];
  const ask = (orderId: string) => judge(ledger, { orderId, spends: [[name, '6']], limits, reserve: true }, 7_200_000);
  expect(ask(name)).toEqual([]);
  expect(ask('other')).toEqual([{ index: 0, total: '12' }]);
  settle(ledger, { orderId: name, spends: [] });
  expect(ask('other')).toEqual([]);
});
