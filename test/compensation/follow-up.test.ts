import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { validateOrderInput } from '../../src/contract/order-schema.js';
import { figures } from '../../src/workflows/compensation/figures.js';
import { finishingOrder, followUpCosts } from '../../src/workflows/compensation/follow-up.js';
import { CARD, ETHEREUM, SEPA_IBAN } from '../contract/fixtures.js';
import { type CaseFacts, caseOf } from './cases.js';

type Type = Parameters<typeof caseOf>[0];

const followUpOf = (type: Type, facts: CaseFacts) => {
  const c = caseOf(type, 'completed_partially', facts);
  return finishingOrder(c, figures(c), `${c.request.order_id}.r1`);
};

interface Row extends CaseFacts {
  title: string;
  type: Type;
  followUp: ReturnType<typeof followUpOf>;
}

const byAmount = { amount: '100', amount_to: undefined };
const ROWS: Row[] = [
  {
    title: 'withdraw: pays the rest to the same wallet',
    type: 'withdraw',
    changes: [['usd', '-15.5']],
    followUp: {
      type: 'withdraw',
      request: {
        order_id: 'w-1.r1',
        description: 'Follow-up of w-1',
        currency: 'usd',
        network: 'card',
        amount: '10',
        wallet: CARD,
      },
    },
  },
  {
    title: 'withdraw: keeps client info, memo and details, and neither description nor delay',
    type: 'withdraw',
    request: {
      description: 'full salary',
      client_info: { client_id: 'c-7' },
      network: 'sepa',
      wallet: SEPA_IBAN,
      wallet_memo: '42',
      wallet_details: { recipient_email: 'a@example.com', recipient_name: 'A' },
      delay_order_for_minutes: 5,
    },
    changes: [['usd', '-15.5']],
    followUp: {
      type: 'withdraw',
      request: {
        order_id: 'w-1.r1',
        description: 'Follow-up of w-1',
        client_info: { client_id: 'c-7' },
        currency: 'usd',
        network: 'sepa',
        amount: '10',
        wallet: SEPA_IBAN,
        wallet_memo: '42',
        wallet_details: { recipient_email: 'a@example.com', recipient_name: 'A' },
      },
    },
  },
  {
    title: 'exchange: exchanges the rest',
    type: 'exchange',
    changes: [['usd', '-4']],
    followUp: {
      type: 'exchange',
      request: {
        order_id: 'x-1.r1',
        description: 'Follow-up of x-1',
        currency_from: 'usd',
        currency_to: 'btc',
        amount: '6',
      },
    },
  },
  {
    title: 'deposit_exchange: exchanges the rest from the balance, not by another deposit',
    type: 'deposit_exchange',
    changes: [['btc', '0.004']],
    followUp: {
      type: 'exchange',
      request: {
        order_id: 'dx-1.r1',
        description: 'Follow-up of dx-1',
        currency_from: 'btc',
        currency_to: 'usd',
        amount: '0.004',
      },
    },
  },
  {
    title: 'exchange_withdraw, only R_T: pays it out',
    type: 'exchange_withdraw',
    request: byAmount,
    changes: [
      ['usd', '-100'],
      ['eth', '0.02'],
    ],
    followUp: {
      type: 'withdraw',
      request: {
        order_id: 'xw-1.r1',
        description: 'Follow-up of xw-1',
        currency: 'eth',
        network: 'ethereum',
        amount: '0.02',
        wallet: ETHEREUM,
      },
    },
  },
  {
    title: 'exchange_withdraw, only R_F: exchanges and pays it out, without the delay',
    type: 'exchange_withdraw',
    request: byAmount,
    changes: [['usd', '-40']],
    followUp: {
      type: 'exchange_withdraw',
      request: {
        order_id: 'xw-1.r1',
        description: 'Follow-up of xw-1',
        currency_from: 'usd',
        amount: '60',
        currency_to: 'eth',
        network_to: 'ethereum',
        wallet: ETHEREUM,
      },
    },
  },
  {
    title: 'both sides: none, a person decides one at a time',
    type: 'exchange_withdraw',
    request: byAmount,
    changes: [
      ['usd', '-40'],
      ['eth', '0.02'],
    ],
    followUp: undefined,
  },
  {
    title: 'nothing left: none',
    type: 'withdraw',
    changes: [['usd', '-25.5']],
    followUp: undefined,
  },
  { title: 'deposit: none', type: 'deposit', changes: [['usd', '100']], followUp: undefined },
];

describe('finishingOrder', () => {
  test.for(ROWS)('$title', ({ type, followUp, ...facts }) => {
    expect(followUpOf(type, facts)).toEqual(followUp);
  });

  const STRICT = [
    { title: 'pays no more than is missing of an exact payout', paid: '0.3', left: '0.25', amount: '0.2' },
    { title: 'pays what is left when that is less than what is missing', paid: '0.3', left: '0.1', amount: '0.1' },
    { title: 'counts an unknown paid amount as 0', paid: null, left: '0.7', amount: '0.5' },
    { title: 'pays nothing when the exact payout was reached', paid: '0.5', left: '0.1', amount: undefined },
    { title: 'pays nothing when it was exceeded', paid: '0.6', left: '0.1', amount: undefined },
  ];
  test.for(STRICT)('$title', ({ paid, left, amount }) => {
    const facts: CaseFacts = {
      order: { expected_amount_from: '1600', amount_to: paid },
      changes: [
        ['usd', '-1600'],
        ['eth', left],
      ],
    };
    expect(followUpOf('exchange_withdraw', facts)?.request.amount).toBe(amount);
  });

  it('never moves more than what is left, to the last of 18 decimals', () => {
    const amounts = fc.bigInt({ min: 1n, max: 10n ** 30n }).map((units) => new Big(units.toString()).times('1e-18'));
    fc.assert(
      fc.property(amounts, amounts, amounts, (asked, part, paid) => {
        fc.pre(part.lt(asked));
        const left = asked.minus(part);
        const withdraw = followUpOf('withdraw', {
          request: { amount: asked.toFixed() },
          changes: [['usd', part.neg().toFixed()]],
        });
        expect(withdraw?.request.amount).toBe(left.toFixed());
        const strict = followUpOf('exchange_withdraw', {
          request: { amount_to: asked.toFixed() },
          order: { expected_amount_from: '1', amount_to: paid.toFixed() },
          changes: [
            ['usd', '-1'],
            ['eth', part.toFixed()],
          ],
        });
        const pays = new Big(strict?.request.amount ?? '0');
        expect(pays.lte(part)).toBe(true);
        expect(pays.eq(0) || pays.plus(paid).lte(asked)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('makes orders that the validation accepts', () => {
    for (const { type, followUp, ...facts } of ROWS.filter((row) => row.followUp)) {
      const made = followUpOf(type, facts);
      expect(made && validateOrderInput(made.type, { order: made.request }, { followUp: true })).toHaveProperty(
        'input',
      );
    }
  });
});

describe('followUpCosts', () => {
  const cost = (type: Type, payer: string, changes: CaseFacts['changes']) => {
    const c = caseOf(type, 'completed_partially', { changes, payers: { from: null, to: payer } });
    const followUp = finishingOrder(c, figures(c), 'x.r1');
    return followUp && followUpCosts(c, followUp);
  };

  it('tells of the second commission that a recipient bears', () => {
    expect(cost('withdraw', 'client', [['usd', '-5.5']])).toEqual(['the recipient bears a second commission']);
  });
  it('is silent when the merchant pays, and for exchanges', () => {
    expect(cost('withdraw', 'merchant', [['usd', '-5.5']])).toEqual([]);
    expect(cost('exchange', 'client', [['usd', '-5.5']])).toEqual([]);
  });
});
