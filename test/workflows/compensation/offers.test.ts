import Big from 'big.js';
import { describe, expect, it, test } from 'vitest';
import type { RevertTarget } from '../../../src/contract/order/input-and-result.js';
import type { Decision } from '../../../src/contract/order/messages.js';
import { figures } from '../../../src/workflows/compensation/figures.js';
import { openFunds } from '../../../src/workflows/compensation/moves.js';
import {
  actionsOf,
  chooseOffer,
  describeOffer,
  offerByPolicy,
  offersOf,
} from '../../../src/workflows/compensation/offers.js';
import { rowOf } from '../../../src/workflows/compensation/table.js';
import { decisionsOf, refusal } from '../../../src/workflows/order/decision.js';
import type { OrderRun } from '../../../src/workflows/order/state.js';
import { BITCOIN, CARDS_REQUEST } from '../../contract/inputs.fixture.js';
import { type CaseFacts, caseOf } from './cases.fixture.js';

type Type = Parameters<typeof caseOf>[0];

const REVERT_TO: RevertTarget = { network: 'bitcoin', wallet: BITCOIN };

const opened = (type: Type, facts: CaseFacts, revertTo?: RevertTarget, status = 'completed_partially') => {
  const c = caseOf(type, status, facts);
  const left = figures(c);
  const row = rowOf(c, left);
  return { row, offers: offersOf(c, openFunds(c, left), row, revertTo) };
};

interface Row extends CaseFacts {
  title: string;
  type: Type;
  status?: string;
  revertTo?: RevertTarget;
  offers: string[];
  /** What the policies do by themselves. */
  auto?: { finish?: string; revert?: string };
}

const byAmount = { amount: '100', amount_to: undefined };
const came = { amount_from: '0.01' };
const { order_id: _, ...CARDS } = CARDS_REQUEST;

const ROWS: Row[] = [
  {
    title: 'a withdraw: pays what is left',
    type: 'withdraw',
    order: { amount_to: '15.5' },
    changes: 'usd -15.5',
    offers: ['finish unpaid as withdraw (10 usd)'],
    auto: { finish: '10' },
  },
  {
    title: 'an exchange: goes on with R_F, or back with net[T]',
    type: 'exchange',
    changes: 'usd -4, btc 0.00006',
    offers: ['finish unexchanged as exchange (6 usd)', 'revert as exchange (0.00006 btc)'],
    auto: { finish: '6', revert: '0.00006' },
  },
  {
    title: 'an exchange that exchanged nothing: has nothing to take back',
    type: 'exchange',
    order: { blockchain_deposit_hash: 'ab' },
    offers: ['finish unexchanged as exchange (10 usd)'],
    auto: { finish: '10' },
  },
  {
    title: 'a deposit_exchange: the refund needs revertTo',
    type: 'deposit_exchange',
    order: came,
    changes: 'btc 0.01, btc -0.006, usd 380',
    offers: [
      'finish unexchanged as exchange (0.004 btc)',
      'revert as exchange (380 usd)',
      'revert unexchanged as withdraw (0.004 btc, needs revertTo)',
    ],
    auto: { finish: '0.004', revert: '380' },
  },
  {
    title: 'a deposit_exchange_withdraw with R_F: refunds it by policy where the input says whereto',
    type: 'deposit_exchange_withdraw',
    order: { ...came, amount_to: '380' },
    revertTo: REVERT_TO,
    changes: 'btc 0.01, btc -0.006, usd 380, usd -380',
    offers: ['finish unexchanged as exchange_withdraw (0.004 btc)', 'revert unexchanged as withdraw (0.004 btc)'],
    auto: { finish: '0.004', revert: '0.004' },
  },
  {
    title: 'a deposit_exchange_withdraw with R_F and no revertTo: refunds by decision only',
    type: 'deposit_exchange_withdraw',
    order: { ...came, amount_to: '380' },
    changes: 'btc 0.01, btc -0.006, usd 380, usd -380',
    offers: [
      'finish unexchanged as exchange_withdraw (0.004 btc)',
      'revert unexchanged as withdraw (0.004 btc, needs revertTo)',
    ],
    auto: { finish: '0.004' },
  },
  {
    title: 'a deposit_exchange_withdraw with R_T: pays, or back before any refund',
    type: 'deposit_exchange_withdraw',
    order: came,
    changes: 'btc 0.01, btc -0.01, usd 200',
    offers: ['finish unpaid as withdraw (200 usd)', 'revert unpaid as exchange (200 usd)'],
    auto: { finish: '200' },
  },
  {
    title: 'an exchange_withdraw with R_T: pays, or back',
    type: 'exchange_withdraw',
    request: byAmount,
    changes: 'usd -100, eth 0.02',
    offers: ['finish unpaid as withdraw (0.02 eth)', 'revert unpaid as exchange (0.02 eth)'],
    auto: { finish: '0.02', revert: '0.02' },
  },
  {
    title: 'an exact payout with R_F: exchanges first, by decision',
    type: 'exchange_withdraw',
    order: { expected_amount_from: '1600' },
    changes: 'usd -1000',
    offers: ['finish unexchanged as exchange (600 usd)'],
  },
  {
    title: 'left in two places: everything by decision',
    type: 'exchange_withdraw',
    request: byAmount,
    changes: 'usd -40, eth 0.02',
    offers: [
      'finish unpaid as withdraw (0.02 eth)',
      'finish unexchanged as exchange_withdraw (60 usd)',
      'revert unpaid as exchange (0.02 eth)',
    ],
  },
  {
    title: 'several cards: which of them, only a person can say',
    type: 'withdraw',
    request: CARDS,
    order: { amount_to: '0.1' },
    changes: 'usd -0.1',
    offers: ['finish unpaid as withdraw (0.2 usd, needs wallet_details)'],
  },
  {
    title: 'several cards, none of them paid: all again, by decision',
    type: 'withdraw',
    status: 'error',
    request: CARDS,
    offers: ['finish unpaid as withdraw (0.3 usd)'],
  },
  {
    title: 'an exact payout not executed: exchanges what was expected, by decision',
    type: 'exchange_withdraw',
    status: 'error',
    order: { expected_amount_from: '1600' },
    offers: ['finish unexchanged as exchange (1600 usd)'],
  },
  {
    title: 'a deposit credited before an error',
    type: 'deposit_exchange',
    status: 'error',
    order: came,
    changes: 'btc 0.01',
    offers: ['finish unexchanged as exchange (0.01 btc)', 'revert unexchanged as withdraw (0.01 btc, needs revertTo)'],
  },
  { title: 'a deposit', type: 'deposit', changes: 'usd 100', offers: [] },
];

describe('offers', () => {
  test.for(ROWS)('$title', ({ type, status, revertTo, offers: expected, auto = {}, ...facts }) => {
    const { row, offers } = opened(type, facts, revertTo, status);
    expect(offers.map(describeOffer)).toEqual(expected);
    const taken = (policy: 'finish' | 'revert') => offerByPolicy(offers, row, policy)?.amount.toFixed();
    expect({ finish: taken('finish'), revert: taken('revert') }).toEqual({
      finish: undefined,
      revert: undefined,
      ...auto,
    });
    expect([offerByPolicy(offers, row, 'report'), offerByPolicy(offers, row, 'ask')]).toEqual([undefined, undefined]);
  });

  test.for(ROWS)('$title: each has one decision, which means it alone and is taken once filled in', (given) => {
    const { type, status, revertTo, offers: _, auto: __, ...facts } = given;
    const { offers } = opened(type, facts, revertTo, status);
    const attention = {
      code: 'remainder',
      reason: 'something is left',
      since: '',
      allowed: actionsOf(offers),
    } as const;
    const run = {
      revision: 3,
      runId: 'r',
      attention,
      parked: { offers, candidates: [] },
      facts: {},
    } as unknown as OrderRun;
    const choices = decisionsOf(run).filter(({ decision }) => decision.action !== 'accept');
    expect(choices.map(({ decision }) => chooseOffer(offers, decision))).toEqual(
      [...offers].sort((a, b) => a.move.action.localeCompare(b.move.action)),
    );
    for (const { decision, needs } of choices) {
      expect(refusal(run, decision)).toContain('by: who decides?');
      const filledIn = { ...decision, by: 'ann', reason: 'as agreed' };
      expect(refusal(run, filledIn)).toEqual(needs ? expect.stringContaining(needs) : undefined);
    }
  });

  const STRICT = [
    { title: 'pays no more than is missing of an exact payout', paid: '0.3', left: '0.25', amount: '0.2' },
    { title: 'pays what is left when that is less than what is missing', paid: '0.3', left: '0.1', amount: '0.1' },
    { title: 'counts an unknown paid amount as 0', paid: null, left: '0.7', amount: '0.5' },
    { title: 'pays nothing when the exact payout was reached', paid: '0.5', left: '0.1', amount: undefined },
    { title: 'pays nothing when it was exceeded', paid: '0.6', left: '0.1', amount: undefined },
  ];
  test.for(STRICT)('$title', ({ paid, left, amount }) => {
    const changes = `usd -1600, eth ${new Big(left).plus(paid ?? 0).toFixed()}, eth -${paid ?? 0}`;
    const order = { expected_amount_from: '1600', amount_to: paid };
    const { offers } = opened('exchange_withdraw', { order, changes });
    const pay = offers.find(({ move }) => move.action === 'finish');
    expect(pay?.amount.toFixed()).toBe(amount);
  });

  it('never refund more than the deposit brought', () => {
    const changes = 'btc 0.00995, btc -0.001';
    const order = { ...came, amount_from_fee: '0.00005' };
    const payers = { from: 'client', to: 'merchant' };
    const c = caseOf('deposit_exchange', 'completed_partially', { order, changes, payers });
    const left = figures(c);
    const funds = { ...openFunds(c, left), returned: new Big('0.004') };
    const offers = offersOf(c, funds, rowOf(c, left), REVERT_TO);
    expect(offers.find(({ move }) => move.as === 'withdraw')?.amount.toFixed()).toBe('0.00995');
  });
});

describe('a decision', () => {
  const { offers } = opened('deposit_exchange', {
    order: came,
    changes: 'btc 0.01, btc -0.006, usd 380',
  });
  const choose = (decision: Partial<Decision>) => {
    const chosen = chooseOffer(offers, decision);
    return typeof chosen === 'string' ? chosen : describeOffer(chosen);
  };

  it('may leave out what there is only one of', () => {
    expect(choose({ action: 'finish' })).toBe('finish unexchanged as exchange (0.004 btc)');
  });
  it('names what there are several of', () => {
    expect(choose({ action: 'revert', as: 'exchange' })).toBe('revert as exchange (380 usd)');
    expect(choose({ action: 'revert', kind: 'unexchanged' })).toContain('revert unexchanged as withdraw');
    expect(choose({ action: 'revert', kind: 'unexchanged', as: 'withdraw' })).toContain('as withdraw');
  });
  it('is told what is possible when it fits none or several', () => {
    const both = 'possible: revert as exchange (380 usd), revert unexchanged as withdraw (0.004 btc, needs revertTo)';
    expect(choose({ action: 'revert' })).toBe(`which way to revert? Name kind or as; ${both}`);
    expect(choose({ action: 'revert', kind: 'unpaid' })).toBe(`no such way to revert; ${both}`);
  });
  it('may always be to accept', () => {
    expect(actionsOf(offers)).toEqual(['finish', 'revert', 'accept']);
    expect(actionsOf([])).toEqual(['accept']);
  });
});
