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

/** 10 usd asked for, 6 exchanged at `rate`, into `received` btc. */
const exchanged = (order: NonNullable<CaseFacts['order']>, received: string): CaseFacts => ({
  request: { amount: '10' },
  order: { expected_amount_from: '10', amount_from: '6', amount_to: received, currency_to_precision: 8, ...order },
  changes: `usd -6, btc ${received}`,
});

const changed = (facts: CaseFacts, order: CaseFacts['order'], rest: Partial<CaseFacts> = {}): CaseFacts => ({
  ...facts,
  ...rest,
  order: { ...facts.order, ...order },
});

interface Failing extends CaseFacts {
  title: string;
  type: Type;
  status?: string;
  reasons: string[];
}

const WITHDRAWN: CaseFacts = {
  order: { expected_amount_to: '25.5', amount_to: '15.5', amount_to_fee: '1' },
  changes: 'usd -16.5',
};

const FAILING: Failing[] = [
  {
    title: '1: a change that does not add up',
    type: 'withdraw',
    ...WITHDRAWN,
    changes: [{ ...change('usd', '-16.5'), amount_before: '40', amount_after: '23.6' }],
    reasons: ['usd: 40 -16.5 does not give 23.6'],
  },
  {
    title: '1: a change in a currency that the order does not have',
    type: 'withdraw',
    ...WITHDRAWN,
    changes: 'usd -16.5, eur -1',
    reasons: ['a balance change in eur'],
  },
  {
    title: '2: more taken than asked for',
    type: 'exchange',
    ...exchanged({ ...at('0.0001'), amount_from: '11', expected_amount_to: '0.001' }, '0.0011'),
    changes: 'usd -11, btc 0.0011',
    reasons: ['unexchanged -1 is below 0', 'a partial order that left nothing'],
  },
  {
    title: '2: more left than asked for',
    type: 'exchange',
    order: { amount_from: '-1' },
    changes: 'usd 1',
    reasons: ['unexchanged 11 is more than 10'],
  },
  {
    title: '2: more left of a deposit than came',
    type: 'deposit_exchange',
    order: { amount_from: '0.01' },
    changes: 'btc 0.02',
    reasons: ['unexchanged 0.02 is more than 0.01', 'amount_from 0.01 is not 0.02, as the balances say'],
  },
  {
    title: '2: more paid than was there',
    type: 'exchange_withdraw',
    ...changed(HALF_DONE, { amount_to: '0.02' }),
    changes: 'usd -60, eth 0.018, eth -0.02, eth -0.001',
    reasons: ['unpaid -0.002 is below 0'],
  },
  {
    title: '3: exchange, amount_from is not what the balance lost',
    type: 'exchange',
    ...exchanged({ ...at('0.0001'), amount_from: '5', expected_amount_to: '0.001' }, '0.0006'),
    reasons: ['amount_from 5 is not 6, as the balances say'],
  },
  {
    title: '3: exchange_withdraw, amount_from is not what the balance lost',
    type: 'exchange_withdraw',
    ...changed(HALF_DONE, { amount_from: '61' }),
    reasons: ['amount_from 61 is not 60, as the balances say'],
  },
  {
    title: '3: exchange, amount_to is not what the balance gained',
    type: 'exchange',
    ...exchanged({ ...at('0.0001'), amount_to: '0.0007', expected_amount_to: '0.001' }, '0.0006'),
    reasons: ['amount_to 0.0007 is not 0.0006, as the balances say'],
  },
  {
    title: '3: deposit_exchange, amount_to is not what the balance gained',
    type: 'deposit_exchange',
    order: { amount_from: '0.01', amount_to: '9' },
    changes: 'btc 0.01',
    reasons: ['amount_to 9 is not 0, as the balances say'],
  },
  {
    title: '3: withdraw, amount_to and fee are not what the balance lost',
    type: 'withdraw',
    ...changed(WITHDRAWN, { amount_to: '15' }),
    reasons: ['amount_to + fee 16 is not 16.5, as the balances say'],
  },
  {
    title: '4: what arrived does not fit the rate',
    type: 'exchange_withdraw',
    ...changed(HALF_DONE, { exchange_rate_actual: '0.0004' }),
    reasons: ['60 exchanged at 0.0004 does not give 0.018'],
  },
  {
    title: '4: an exchange without an actual rate',
    type: 'exchange_withdraw',
    ...changed(HALF_DONE, { exchange_rate_actual: null }),
    reasons: ['an exchange without a rate'],
  },
  {
    title: '4: an exchange without an initial rate',
    type: 'exchange_withdraw',
    ...changed(HALF_DONE, { exchange_rate_initial: null }),
    reasons: ['an exchange without a rate'],
  },
  {
    title: '4: the rate fits only in the direction that the expected amounts rule out',
    type: 'exchange',
    ...exchanged({ ...at('0.5'), expected_amount_to: '5' }, '12'),
    reasons: ['6 exchanged at 0.5 does not give 12'],
  },
  {
    title: '4: the other way round',
    type: 'exchange',
    ...exchanged({ ...at('0.5'), expected_amount_to: '20' }, '3'),
    reasons: ['6 exchanged at 0.5 does not give 3'],
  },
  {
    title: '5: nobody knows who paid the commission on the payout',
    type: 'withdraw',
    ...WITHDRAWN,
    payers: null,
    reasons: ['who paid the commission on amount_to is not known'],
  },
  {
    title: '5: another payer in rates later',
    type: 'withdraw',
    ...WITHDRAWN,
    laterPayers: { from: 'client', to: 'client' },
    reasons: ['the commission on amount_to is paid by merchant, and rates said client later'],
  },
  {
    title: '5: a merchant’s commission in an order that gives the wallet less than was asked for',
    type: 'withdraw',
    ...changed(WITHDRAWN, { expected_amount_to: '24.5' }),
    reasons: ['25.5 was to become 24.5, which does not show that the merchant pays the commission on amount_to'],
  },
  {
    title: '5: a client’s commission that the balance shows apart',
    type: 'withdraw',
    ...changed(WITHDRAWN, { expected_amount_to: '24.5' }),
    changes: 'usd -15.5, usd -1',
    payers: { from: null, to: 'client' },
    reasons: ['the commission on amount_to was withheld separately, although the client pays it'],
  },
  {
    title: '5: a payer that is not documented',
    type: 'deposit_exchange',
    order: { amount_from: '0.01', amount_from_fee: '0.001' },
    changes: 'btc 0.01, btc -0.001',
    payers: { from: 'partner', to: null },
    reasons: ['who paid the commission on amount_from is not known'],
  },
  {
    title: '3: a payout that the balance shows without its commission',
    type: 'exchange_withdraw',
    ...HALF_DONE,
    changes: 'usd -60, eth 0.018, eth -0.01',
    reasons: [
      '100 was to become 0.03, which does not show that the merchant pays the commission on amount_to',
      'amount_to + fee 0.011 is not 0.01, as the balances say',
    ],
  },
  {
    title: '3: a payout with a commission that the order does not show',
    type: 'exchange_withdraw',
    ...changed(HALF_DONE, { amount_to_fee: null }),
    reasons: ['amount_to + fee 0.01 is not 0.011, as the balances say'],
  },
  {
    title: '3: a deposit whose commission the merchant pays, though no change shows it',
    type: 'deposit_exchange',
    order: { amount_from: '0.01', amount_from_fee: '0.001' },
    changes: 'btc 0.01',
    reasons: ['no balance change shows the commission 0.001 on amount_from'],
  },
  {
    title: '5: a rate so coarse that it hides who paid a commission booked with its amount',
    type: 'exchange_withdraw',
    ...changed(HALF_DONE, { expected_amount_to: '0.0299', ...at('0.0003'), amount_to_fee: '0.0001' }),
    changes: 'usd -60, eth 0.018, eth -0.0101',
    reasons: ['100 was to become 0.0299, which does not show that the merchant pays the commission on amount_to'],
  },
  {
    title: '1: both sides of an exchange in one currency',
    type: 'exchange',
    order: { currency_to: 'usd', amount_from: '6', amount_to: '-6' },
    changes: 'usd -6',
    reasons: ['usd exchanged into itself', 'an exchange without a rate'],
  },
  {
    title: '4: something on the balance, though nothing was exchanged',
    type: 'exchange_withdraw',
    status: 'error',
    request: { amount: '100', amount_to: undefined },
    order: { expected_amount_from: '100' },
    changes: 'eth 0.01',
    reasons: ['0.01 eth on the balance, though nothing was exchanged'],
  },
  {
    title: '6: a partial order without balance changes',
    type: 'withdraw',
    reasons: ['a partial order without balance changes'],
  },
  {
    title: '6: a partial order that left nothing',
    type: 'withdraw',
    order: { amount_to: '25.5' },
    changes: 'usd -25.5',
    reasons: ['a partial order that left nothing'],
  },
];

describe('failedChecks', () => {
  test.for(FAILING)('$title', ({ type, status = 'completed_partially', reasons, ...facts }) => {
    expect(doubts(type, status, facts)).toEqual(reasons);
  });

  it('names every failed check at once', () => {
    const facts: CaseFacts = { order: { amount_to: '3', amount_to_fee: '1' }, changes: 'eur -1', payers: null };
    expect(doubts('withdraw', 'completed_partially', facts)).toEqual([
      'who paid the commission on amount_to is not known',
      'a balance change in eur',
      'amount_to + fee 4 is not 0, as the balances say',
    ]);
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

  const RATES = [
    { title: 'a rate that multiplies', rate: '0.00002', expected: '0.0002', received: '0.00012' },
    { title: 'a rate that divides', rate: '50000', expected: '0.0002', received: '0.00012' },
    { title: 'a rate near 1 that multiplies, hidden by a commission', rate: '1.02', expected: '9.7', received: '6.12' },
    { title: 'a rate near 1 that divides', rate: '0.98', expected: '9.7', received: '6.12244897' },
    { title: 'a rate of exactly 1', rate: '1', expected: '10', received: '6' },
    { title: 'a rate with 18 decimals', rate: '1.000000000000000001', expected: '10', received: '6' },
  ];
  test.for(RATES)('accepts $title', ({ rate, expected, received }) => {
    const facts = exchanged({ ...at(rate), expected_amount_to: expected }, received);
    expect(doubts('exchange', 'completed_partially', facts)).toEqual([]);
  });

  const ROUNDED = [
    { title: 'one unit of the precision too little', received: '0.00011999', believed: true },
    { title: 'two units too little', received: '0.00011998', believed: false },
    { title: 'one unit too much', received: '0.00012001', believed: true },
    { title: 'two units too much', received: '0.00012002', believed: false },
  ];
  test.for(ROUNDED)('with an exact rate, $title is believed: $believed', ({ received, believed }) => {
    // Trailing zeros make the rate's own last digit too small to matter.
    const rate = '0.00002000000000';
    const rates = { ...at(rate), expected_amount_to: '0.0002' };
    const reasons = doubts('exchange', 'completed_partially', exchanged(rates, received));
    expect(reasons.length === 0).toBe(believed);
  });

  it('allows half of the last digit of a short rate', () => {
    const rates = { ...at('0.17'), expected_amount_to: '1.7' };
    expect(doubts('exchange', 'completed_partially', exchanged(rates, '1.0499'))).toEqual([]);
    expect(doubts('exchange', 'completed_partially', exchanged(rates, '1.0501'))).toHaveLength(1);
  });

  const withPrecision = (precisions: CaseFacts['order']) =>
    doubts('exchange', 'completed_partially', exchanged({ ...at('0.5'), expected_amount_to: '5', ...precisions }, '3'));

  it('accepts a precision that says how many decimal places there are', () => {
    expect(withPrecision({ currency_from_precision: 0, currency_to_precision: 18 })).toEqual([]);
  });

  test.each([-1, 31, Number.MAX_SAFE_INTEGER])('a precision of %d asks a person and is no crash', (places) => {
    for (const name of ['currency_from_precision', 'currency_to_precision'])
      expect(withPrecision({ [name]: places })).toContain(`${name} ${places} is no number of decimal places`);
  });
});
