import { describe, expect, it, test } from 'vitest';
import { failedChecks } from '../../../src/workflows/compensation/checks.js';
import { figures, remainders } from '../../../src/workflows/compensation/figures.js';
import { type CaseFacts, caseOf, written } from './cases.fixture.js';

interface Row extends CaseFacts {
  title: string;
  type: Parameters<typeof caseOf>[0];
  left: { unexchanged?: string; unpaid?: string };
}

/** 345.6 usd became 14400 uah, of which 5760 were paid for 31.8; the order still shows the quoted commission of 75. */
const QUOTED: CaseFacts = {
  request: { currency_to: 'uah', network_to: 'bank_ua', amount_to: undefined, amount: '345.6' },
  order: {
    exchange_rate_initial: '0.024',
    exchange_rate_actual: '0.024',
    expected_amount_from: '345.6',
    expected_amount_to: '14400',
    amount_from: '345.6',
    amount_to: '5760',
    amount_to_fee: '75',
  },
  changes: 'usd -345.6, uah 14400, uah -5760, uah -31.8',
};

const ROWS: Row[] = [
  {
    title: 'exchange_withdraw by amount, payer client: the commission came out of the amount',
    type: 'exchange_withdraw',
    request: { amount: '100', amount_to: undefined },
    order: { expected_amount_from: '100', amount_to_fee: '0.001' },
    payers: { from: null, to: 'client' },
    changes: 'usd -100, eth 0.02, eth -0.012',
    left: { unexchanged: '0', unpaid: '0.008' },
  },
  {
    title: 'deposit_exchange_withdraw: both sides, each with its own payer',
    type: 'deposit_exchange_withdraw',
    order: { amount_from: '0.01', amount_from_fee: '0.00005', amount_to: '300', amount_to_fee: '2' },
    payers: { from: 'client', to: 'merchant' },
    changes: 'btc 0.00995, btc -0.009, usd 570, usd -300, usd -2',
    left: { unexchanged: '0.00095', unpaid: '270' },
  },
  {
    title: 'eighteen decimals and large amounts stay exact',
    type: 'exchange_withdraw',
    request: { amount: '123456789012345678.000000000000000001', amount_to: undefined },
    order: { amount_to: '98765432109876543.210000000000000001', amount_to_fee: '0.000000000000000003' },
    changes:
      'usd -123456789012345677.999999999999999999, eth 98765432109876543.210000000000000007, eth -98765432109876543.210000000000000001, eth -0.000000000000000003',
    left: { unexchanged: '0.000000000000000002', unpaid: '0.000000000000000006' },
  },
];

describe('figures', () => {
  test.for(ROWS)('$title', ({ type, left, ...facts }) => {
    expect(written(figures(caseOf(type, 'completed_partially', facts)))).toEqual(left);
  });
});

test('a commission that is only quoted is not added back: 8640 are left, not 8683.20, and a person is asked', () => {
  const c = caseOf('exchange_withdraw', 'completed_partially', QUOTED);
  const left = figures(c);
  expect(written(left)).toEqual({ unexchanged: '0', unpaid: '8640' });
  expect(failedChecks(c, left)).toContainEqual(expect.stringContaining('as the balances say'));
  const charged = { ...c, order: { ...c.order, amount_to_fee: '31.8' } };
  expect(failedChecks(charged, figures(charged))).toEqual([]);
});

describe('remainders', () => {
  it('name the sides above zero with their currencies', () => {
    const c = caseOf('deposit_exchange_withdraw', 'completed_partially', { changes: 'btc 0.001, usd 3.50' });
    expect(remainders(c, figures(c))).toEqual([
      { kind: 'unexchanged', currency: 'btc', amount: '0.001' },
      { kind: 'unpaid', currency: 'usd', amount: '3.5' },
    ]);
  });
  it('are empty when nothing is left or a figure is negative', () => {
    const c = caseOf('exchange', 'completed_partially', { changes: 'usd -11' });
    expect(remainders(c, figures(c))).toEqual([]);
  });
});
