import { expect, test } from 'vitest';
import { countListed } from '../../src/activities/policy/rebuild.js';
import { settlementOf } from '../../src/activities/policy/settle.js';
import { Secret } from '../../src/config.js';
import { judge, openLedger, reserveOrder, type Spend, settle, totalOf } from '../../src/contract/policy/ledger.js';
import type { Order, OrderListItem } from '../../src/contract/service-objects.js';

const spentOf = (reserved: readonly Spend[], result: Parameters<typeof settlementOf>[2]) =>
  settlementOf('a', reserved, result).spends;

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
])('an order that executed %s counts for that alone', ([, figures, counted]) => {
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

const DEPOSITED = { order_type: 'deposit_exchange_withdraw', currency_from: 'eur', strict_withdrawal_amount: true };

test.for<[string, Order, readonly Spend[], [string, string][]]>([
  [
    'a deposit for an exact payout that the client overpaid',
    paid({ ...DEPOSITED, expected_amount_to: '60', amount_to: '180.02' }),
    [['usd', '60']],
    [['usd', '180.02']],
  ],
  ['an exact payout at a better rate', exchanged({ amount_to: '105' }), [['usdt', '98']], [['usdt', '105']]],
  [
    'a part of more than the exact payout',
    exchanged({ status: 'completed_partially', amount_to: '150' }),
    [['usdt', '98']],
    [['usdt', '150']],
  ],
  [
    'an exchange that took more than its amount',
    exchanged({ order_type: 'exchange', strict_withdrawal_amount: false, amount_from: '120' }),
    [['usd', '100']],
    [['usd', '120']],
  ],
  [
    'a payout of more than its amount',
    paid({ amount_from: '950', amount_to: '950' }),
    [['usd', '900']],
    [['usd', '950']],
  ],
  [
    'more than what several payees were to get, which may be of any of them',
    exchanged({ network_to: 'multiple_cards', amount_to: '108' }),
    [
      ['usdt', '98'],
      ['usdt p', '48'],
      ['usdt q', '50'],
      ['# p', '1'],
      ['# q', '1'],
    ],
    [
      ['usdt', '108'],
      ['usdt p', '58'],
      ['usdt q', '60'],
      ['# p', '1'],
      ['# q', '1'],
    ],
  ],
])('%s counts as what was paid', ([, order, reserved, counted]) => {
  const { spends } = settlementOf('a', reserved, { outcome: order.status as 'completed', order });
  expect(spends.filter(([key]) => reserved.some(([one]) => one === key))).toEqual(counted);
});

const NOTHING = { amount_from: null, amount_to: null, blockchain_withdrawal_hash: null } as const;

test('an exchange that was not executed paid nothing out either', () => {
  const order = exchanged({ status: 'error', ...NOTHING });
  const remainder = [{ kind: 'unexchanged' as const, currency: 'usd', amount: '100' }];
  const reserved = [
    ['usd', '100'],
    ['usdt', '98'],
    ['usdt p', '98'],
    ['# p', '1'],
  ] as const;
  expect(spentOf(reserved, { outcome: 'error', order, remainder })).toEqual([]);
  expect(spentOf(reserved, { outcome: 'error', order, remainderUnknown: 'a doubt' })).toEqual(reserved);
});

const change = (currency: string, amount: string) =>
  ({ currency, amount_change: amount }) as OrderListItem['balance_changes'][number];
const listed = (order: Order, balance_changes: OrderListItem['balance_changes'] = []): OrderListItem => ({
  ...order,
  ...{ balance_changes, created_at: '1970-01-01T00:00:00Z', wallet_to: '4111111111111111', network_to: 'card' },
});
const KEY = new Secret('0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978');

/** Reads sums of one order of the list: its totals, and the number of its payees. */
function reread(item: OrderListItem) {
  const ledger = openLedger();
  countListed({ payeeKey: KEY }, ledger, item, 0, new Set());
  const payees = Object.keys(ledger.sums).filter((key) => key.startsWith('# '));
  return { usd: totalOf(ledger, 'usd', 0), usdt: totalOf(ledger, 'usdt', 0), payees: payees.length };
}

test.for<[string, OrderListItem, string, string, number]>([
  ['ended in error', listed(paid({ status: 'error', ...NOTHING })), '0', '0', 0],
  ['was canceled', listed(paid({ status: 'canceled', ...DEPOSITED, ...NOTHING })), '0', '0', 0],
  ['was not exchanged', listed(exchanged({ status: 'error', ...NOTHING })), '0', '0', 0],
  [
    'was exchanged and not paid out',
    listed(exchanged({ status: 'error', ...NOTHING, amount_from: '100' }), [
      change('usd', '-100'),
      change('usdt', '98'),
    ]),
    ...(['100', '0', 0] as const),
  ],
  [
    'ended in error, although its balance changes show a payout',
    listed(paid({ status: 'error', ...NOTHING }), [change('usd', '-500')]),
    ...(['500', '0', 1] as const),
  ],
  [
    'ended in error, although it shows the hash of a payout',
    listed(paid({ status: 'error', ...NOTHING, blockchain_withdrawal_hash: 'h' })),
    ...(['900', '0', 1] as const),
  ],
  [
    'ended in error, but could not be read',
    listed(paid({ status: 'error', ...NOTHING, unreadable: ['amount_to'] })),
    ...(['900', '0', 1] as const),
  ],
  ['was overpaid', listed(paid({ ...DEPOSITED, expected_amount_to: '60', amount_to: '180.02' })), '180.02', '0', 1],
  [
    'is under way, and shows that nothing was paid yet',
    listed(paid({ status: 'processing', amount_to: '0' })),
    '900',
    '0',
    1,
  ],
])('an order that %s counts so in sums that are read again', ([, item, usd, usdt, payees]) => {
  expect(reread(item)).toEqual({ usd, usdt, payees });
});
