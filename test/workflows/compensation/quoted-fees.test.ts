import { describe, expect, test } from 'vitest';
import type { OrderType } from '../../../src/contract/order/types.js';
import type { Order } from '../../../src/contract/service-objects.js';
import { failedChecks } from '../../../src/workflows/compensation/checks.js';
import { figures } from '../../../src/workflows/compensation/figures.js';
import { type CaseFacts, caseOf, written } from './cases.fixture.js';

/** Terms of the payouts below: 0.5 % and 3 fixed, paid by the merchant; a displayed rate of two digits. */
const UAH = { currency_from: 'usd', currency_to: 'uah', network_to: 'bank_ua', amount_to: undefined };
const RATE = { exchange_rate_initial: '0.024', exchange_rate_actual: '0.024' };

interface Quoted extends CaseFacts {
  title: string;
  type: OrderType;
  left: { unexchanged?: string; unpaid?: string };
  /** What was added to the remainder when the quoted fee was added back. */
  before: string;
  /** The order with the fee that was charged: believed. */
  charged: Partial<Order>;
}

/** A payout of `paid` of what `asked` usd gave; the order shows the fee of `received`. */
function payout(asked: string, received: string, paid: string, fees: { charged: string; quoted: string }) {
  return {
    type: 'exchange_withdraw' as const,
    request: { ...UAH, amount: asked },
    order: {
      ...RATE,
      expected_amount_from: asked,
      expected_amount_to: received,
      amount_from: asked,
      amount_to: paid,
      amount_to_fee: fees.quoted,
    },
    changes: `usd -${asked}, uah ${received}, uah -${paid}, uah -${fees.charged}`,
    charged: { amount_to_fee: fees.charged },
  };
}

const AT_COARSE_RATE = payout('8000', '8000', '2000', { charged: '13', quoted: '43' });

const DEPOSIT: Partial<Order> = {
  exchange_rate_initial: '50000',
  exchange_rate_actual: '50000',
  expected_amount_from: '0.01',
  expected_amount_to: '500',
  amount_from: '0.005',
  amount_to: '100',
  currency_from_precision: 8,
};

const QUOTED: Quoted[] = [
  {
    title: '60 % unpaid',
    ...payout('345.6', '14400', '5760', { charged: '31.8', quoted: '75' }),
    left: { unexchanged: '0', unpaid: '8640' },
    before: '8683.20',
  },
  {
    title: '40 % unpaid',
    ...payout('345.6', '14400', '8640', { charged: '46.2', quoted: '75' }),
    left: { unexchanged: '0', unpaid: '5760' },
    before: '5788.80',
  },
  {
    title: '40 % of a smaller payout unpaid',
    ...payout('115.2', '4800', '2880', { charged: '17.4', quoted: '27' }),
    left: { unexchanged: '0', unpaid: '1920' },
    before: '1929.60',
  },
  {
    title: 'a rate of "1", which is up to 50 % off',
    ...AT_COARSE_RATE,
    order: {
      ...AT_COARSE_RATE.order,
      exchange_rate_initial: '1',
      exchange_rate_actual: '1',
    },
    left: { unexchanged: '0', unpaid: '6000' },
    before: '6030',
  },
  {
    title: 'a payout after a deposit',
    type: 'deposit_exchange_withdraw',
    order: {
      ...DEPOSIT,
      amount_from: '0.01',
      amount_from_fee: '0.00005',
      amount_to: '200',
      amount_to_fee: '7.5',
    },
    changes: 'btc 0.01, btc -0.00005, btc -0.01, usd 500, usd -200, usd -3',
    left: { unexchanged: '0', unpaid: '300' },
    before: '304.5',
    charged: { amount_to_fee: '3' },
  },
  {
    title: 'an underpaid deposit whose commission the merchant pays',
    type: 'deposit_exchange',
    order: { ...DEPOSIT, amount_from_fee: '0.00005' },
    changes: 'btc 0.005, btc -0.000025, btc -0.002, usd 100',
    // The withheld commission cannot be told from what was exchanged: never more than 0.003.
    left: { unexchanged: '0.002975' },
    before: '0.003025',
    charged: { amount_from_fee: '0.000025' },
  },
  {
    title: 'an overpaid deposit whose commission the client pays',
    type: 'deposit_exchange',
    order: { ...DEPOSIT, amount_from: '0.02', expected_amount_to: '497.5', amount_from_fee: '0.00005' },
    payers: { from: 'client', to: null },
    changes: 'btc 0.0199, btc -0.002, usd 100',
    left: { unexchanged: '0.0179' },
    before: '0.0179',
    charged: { amount_from_fee: '0.0001' },
  },
];

describe('an order that still shows its quoted commission after a partial end', () => {
  test.for(QUOTED)('$title: a person is asked, and $before is not what is left', ({ type, left, before, ...facts }) => {
    const c = caseOf(type, 'completed_partially', facts);
    const found = figures(c);
    expect(written(found)).toEqual(left);
    expect(failedChecks(c, found)).toContainEqual(expect.stringMatching(/as the balances say|no balance change shows/));
  });

  test.for(QUOTED)('$title: the same order with the commission that was charged is believed', (row) => {
    const { type, charged, order, ...facts } = row;
    const c = caseOf(type, 'completed_partially', { ...facts, order: { ...order, ...charged } });
    expect(failedChecks(c, figures(c))).toEqual([]);
  });
});
