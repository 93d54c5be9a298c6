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
    title: 'a deposit_exchange_withdraw with R_T: pays, or back before any refund',
    type: 'deposit_exchange_withdraw',
    order: came,
    changes: 'btc 0.01, btc -0.01, usd 200',
    offers: ['finish unpaid as withdraw (200 usd)', 'revert unpaid as exchange (200 usd)'],
    auto: { finish: '200' },
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
      attention,
      parked: { offers, candidates: [] },
      facts: {},
    } as unknown as OrderRun;
    const choices = decisionsOf(run, 'r').filter(({ decision }) => decision.action !== 'accept');
    expect(choices.map(({ decision }) => chooseOffer(offers, decision))).toEqual(
      [...offers].sort((a, b) => a.move.action.localeCompare(b.move.action)),
    );
    for (const { decision, needs } of choices) {
      expect(refusal(run, decision)).toContain('by: who decides?');
      const filledIn = { ...decision, by: 'ann', reason: 'as agreed' };
      expect(refusal(run, filledIn)).toEqual(needs ? expect.stringContaining(needs) : undefined);
    }
  });
});

describe('a decision', () => {
  const { offers } = opened('deposit_exchange', { order: came, changes: 'btc 0.01, btc -0.006, usd 380' });
  const choose = (decision: Partial<Decision>) => {
    const chosen = chooseOffer(offers, decision);
    return typeof chosen === 'string' ? chosen : describeOffer(chosen);
  };

  it.each<[Partial<Decision>, string]>([
    [{ action: 'finish' }, 'finish unexchanged as exchange (0.004 btc)'],
    [{ action: 'revert', as: 'exchange' }, 'revert as exchange (380 usd)'],
    [{ action: 'revert', kind: 'unexchanged' }, 'revert unexchanged as withdraw'],
  ])('%j names one way', (decision, way) => {
    expect(choose(decision)).toContain(way);
  });

  it('is told what is possible when it fits none or several', () => {
    const both = 'possible: revert as exchange (380 usd), revert unexchanged as withdraw (0.004 btc, needs revertTo)';
    expect(choose({ action: 'revert' })).toBe(`which way to revert? Name kind or as; ${both}`);
    expect(choose({ action: 'revert', kind: 'unpaid' })).toBe(`no such way to revert; ${both}`);
  });
});
