import { describe, expect, it, test } from 'vitest';
import { failedChecks } from '../../../src/workflows/compensation/checks.js';
import { figures } from '../../../src/workflows/compensation/figures.js';
import { type CaseFacts, caseOf, change } from './cases.fixture.js';

type Type = Parameters<typeof caseOf>[0];

const doubts = (type: Type, status: string, facts: CaseFacts): string[] => {
  const c = caseOf(type, status, facts);
  return failedChecks(c, figures(c));
};

/** The same rate at the create and at the end. */
const at = (rate: string) => ({ exchange_rate_initial: rate, exchange_rate_actual: rate });

/** 100 usd asked for, 60 exchanged at 0.0003 into 0.018 eth, of which 0.01 and a commission of 0.001 were paid. */
const HALF_DONE: CaseFacts = {
  request: { amount: '100', amount_to: undefined },
  order: {
    expected_amount_from: '100',
    expected_amount_to: '0.03',
    amount_from: '60',
    amount_to: '0.01',
    amount_to_fee: '0.001',
    ...at('0.0003'),
    currency_to_precision: 6,
  },
  changes: 'usd -60, eth 0.018, eth -0.01, eth -0.001',
};

const CAME = { amount_from: '0.01' };

/** 10 usd asked for, 6 exchanged at `rate`, into `received` btc. */
const exchanged = (order: NonNullable<CaseFacts['order']>, received: string): CaseFacts => ({
  request: { amount: '10' },
  order: { expected_amount_from: '10', amount_from: '6', amount_to: received, currency_to_precision: 8, ...order },
  changes: `usd -6, btc ${received}`,
});

const WITHDRAWN: CaseFacts = {
  order: { expected_amount_to: '25.5', amount_to: '15.5', amount_to_fee: '1' },
  changes: 'usd -16.5',
};

const changed = (facts: CaseFacts, order: CaseFacts['order'], changes = facts.changes): CaseFacts => ({
  ...facts,
  changes,
  order: { ...facts.order, ...order },
});
const withdrawn = (order: CaseFacts['order'], changes?: string) => changed(WITHDRAWN, order, changes);
const half = (order: CaseFacts['order'], changes?: string) => changed(HALF_DONE, order, changes);

/** [check, facts of a partial order, its doubts], by type. */
const FAILING: Partial<Record<Type, [check: number, facts: CaseFacts, ...reasons: string[]][]>> = {
  withdraw: [
    [
      1,
      { ...WITHDRAWN, changes: [{ ...change('usd', '-16.5'), amount_before: '40', amount_after: '23.6' }] },
      'usd: 40 plus -16.5 is not 23.6',
    ],
    [1, { ...WITHDRAWN, changes: 'usd -16.5, eur -1' }, 'a balance change in eur'],
    [3, withdrawn({ amount_to: '15' }), 'amount_to + fee 16 is not 16.5, as the balances say'],
    [5, { ...WITHDRAWN, payers: null }, 'who paid the commission on amount_to is not known'],
    [
      5,
      { ...WITHDRAWN, laterPayers: { from: 'client', to: 'client' } },
      'the commission on amount_to is paid by merchant, and rates said client later',
    ],
    // A merchant's commission in an order that gives the wallet less than was asked for.
    [
      5,
      withdrawn({ expected_amount_to: '24.5' }),
      '25.5 was to become 24.5, which does not show that the merchant pays the commission on amount_to',
    ],
    [
      5,
      { ...withdrawn({ expected_amount_to: '24.5' }, 'usd -15.5, usd -1'), payers: { from: null, to: 'client' } },
      'the commission on amount_to was withheld separately, although the client pays it',
    ],
    [6, {}, 'a partial order without balance changes'],
    [6, { order: { amount_to: '25.5' }, changes: 'usd -25.5' }, 'a partial order that left nothing'],
  ],
  exchange: [
    [
      1,
      { order: { currency_to: 'usd', amount_from: '6', amount_to: '-6' }, changes: 'usd -6' },
      'usd exchanged into itself',
      'an exchange without a rate',
    ],
    [
      2,
      {
        ...exchanged({ ...at('0.0001'), amount_from: '11', expected_amount_to: '0.001' }, '0.0011'),
        changes: 'usd -11, btc 0.0011',
      },
      'unexchanged -1 is below 0',
      'a partial order that left nothing',
    ],
    [2, { order: { amount_from: '-1' }, changes: 'usd 1' }, 'unexchanged 11 is more than 10'],
    [
      3,
      exchanged({ ...at('0.0001'), amount_from: '5', expected_amount_to: '0.001' }, '0.0006'),
      'amount_from 5 is not 6, as the balances say',
    ],
    // The rate fits only in the direction that the expected amounts rule out.
    [4, exchanged({ ...at('0.5'), expected_amount_to: '5' }, '12'), '6 exchanged at 0.5 does not give 12'],
    [4, exchanged({ ...at('0.5'), expected_amount_to: '20' }, '3'), '6 exchanged at 0.5 does not give 3'],
  ],
  deposit_exchange: [
    [
      3,
      { order: { ...CAME, amount_from_fee: '0.001' }, changes: 'btc 0.01' },
      'no balance change shows the commission 0.001 on amount_from',
    ],
    [
      5,
      {
        order: { ...CAME, amount_from_fee: '0.001' },
        changes: 'btc 0.01, btc -0.001',
        payers: { from: 'partner', to: null },
      },
      'who paid the commission on amount_from is not known',
    ],
  ],
  exchange_withdraw: [
    [2, half({ amount_to: '0.02' }, 'usd -60, eth 0.018, eth -0.02, eth -0.001'), 'unpaid -0.002 is below 0'],
    [
      3,
      half({}, 'usd -60, eth 0.018, eth -0.01'),
      '100 was to become 0.03, which does not show that the merchant pays the commission on amount_to',
      'amount_to + fee 0.011 is not 0.01, as the balances say',
    ],
    [4, half({ exchange_rate_actual: '0.0004' }), '60 exchanged at 0.0004 does not give 0.018'],
    [4, half({ exchange_rate_actual: null }), 'an exchange without a rate'],
    // A rate so coarse that it hides who paid a commission booked with its amount.
    [
      5,
      half({ expected_amount_to: '0.0299', amount_to_fee: '0.0001' }, 'usd -60, eth 0.018, eth -0.0101'),
      '100 was to become 0.0299, which does not show that the merchant pays the commission on amount_to',
    ],
  ],
};
const ROWS = Object.entries(FAILING).flatMap(([type, rows]) =>
  rows.map(([check, facts, ...reasons]) => ({ type: type as Type, check, facts, reasons })),
);

describe('failedChecks', () => {
  test.for(ROWS)('check $check of $type: $reasons', ({ type, facts, reasons }) => {
    expect(doubts(type, 'completed_partially', facts)).toEqual(reasons);
  });

  it('doubts a gain although nothing was exchanged', () => {
    const facts = { ...HALF_DONE, order: { expected_amount_from: '100' }, changes: 'eth 0.01' };
    expect(doubts('exchange_withdraw', 'error', facts)[0]).toContain('though nothing was exchanged');
  });

  it('believes a partial order whose figures fit', () => {
    expect(doubts('exchange_withdraw', 'completed_partially', HALF_DONE)).toEqual([]);
    expect(doubts('withdraw', 'completed_partially', WITHDRAWN)).toEqual([]);
  });

  it('believes an order that was not executed, with no commission charged and payers unknown', () => {
    const facts: CaseFacts = { order: { amount_to_fee: '0' }, payers: null };
    expect(doubts('withdraw', 'error', facts)).toEqual([]);
    expect(doubts('exchange', 'error', {})).toEqual([]);
  });

  test.for([
    ['multiplies', '0.00002', '0.0002', '0.00012'],
    ['divides', '50000', '0.0002', '0.00012'],
    ['multiplies near 1, hidden by a commission', '1.02', '9.7', '6.12'],
    ['has 18 decimals', '1.000000000000000001', '10', '6'],
  ] as const)('accepts a rate that %s', ([, rate, expected_amount_to, received]) => {
    const facts = exchanged({ ...at(rate), expected_amount_to }, received);
    expect(doubts('exchange', 'completed_partially', facts)).toEqual([]);
  });

  // One unit of the precision. Trailing zeros make the rate's own last digit too small to matter.
  test.for([
    ['0.00011999', true],
    ['0.00011998', false],
    ['0.00012001', true],
    ['0.00012002', false],
  ] as const)('with an exact rate for 0.00012, %s is believed: %s', ([received, believed]) => {
    const rates = { ...at('0.00002000000000'), expected_amount_to: '0.0002' };
    const reasons = doubts('exchange', 'completed_partially', exchanged(rates, received));
    expect(reasons.length === 0).toBe(believed);
  });

  it('allows half of the last digit of a short rate', () => {
    const rates = { ...at('0.17'), expected_amount_to: '1.7' };
    expect(doubts('exchange', 'completed_partially', exchanged(rates, '1.0499'))).toEqual([]);
    expect(doubts('exchange', 'completed_partially', exchanged(rates, '1.0501'))).toHaveLength(1);
  });

  test.each([-1, 31])('a precision of %d asks a person and is no crash', (places) => {
    for (const name of ['currency_from_precision', 'currency_to_precision']) {
      const facts = exchanged({ ...at('0.5'), expected_amount_to: '5', [name]: places }, '3');
      expect(doubts('exchange', 'completed_partially', facts)).toContain(
        `${name} ${places} is no number of decimal places`,
      );
    }
  });
});
