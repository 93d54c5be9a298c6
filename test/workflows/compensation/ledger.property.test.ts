import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterWorked, type Pools, poolsLeft, type Worked } from '../../../chaos/oracle/pools.js';
import type { Plan } from '../../../sandbox/plan.js';
import { quoteFrom } from '../../../sandbox/quote.js';
import { findTerms } from '../../../sandbox/rates.js';
import { orderSides } from '../../../src/contract/order/types.js';
import { failedChecks } from '../../../src/workflows/compensation/checks.js';
import { type Case, figures } from '../../../src/workflows/compensation/figures.js';
import {
  afterFollowUp,
  type Funds,
  followUpOrder,
  openFunds,
  PAY,
  REFUND,
} from '../../../src/workflows/compensation/moves.js';
import { type Offer, offersOf } from '../../../src/workflows/compensation/offers.js';
import { rowOf } from '../../../src/workflows/compensation/table.js';
import { orders, plans } from './arbitraries.fixture.js';
import { workedCase } from './cases.fixture.js';

const directions = fc.constantFrom('times' as const, 'divided' as const);

describe('orders worked by the sandbox', () => {
  it('pass every check, whichever way the rate is written', () => {
    fc.assert(
      fc.property(orders, plans, directions, ({ terms, asked: wanted }, plan, direction) => {
        const { c } = workedCase(terms, wanted, plan, direction);
        fc.pre(c.order.status !== 'completed_partially' || c.changes.length > 0);
        const left = figures(c);
        const nothing = c.order.status === 'completed_partially' && !left.unexchanged?.gt(0) && !left.unpaid?.gt(0);
        expect(failedChecks(c, left)).toEqual(nothing ? ['a partial order that left nothing'] : []);
      }),
      { numRuns: 1000 },
    );
  });
});

/** The networks that refunds go to, one for each currency. */
const REFUND_NETWORK: Record<string, string> = {
  usd: 'bank',
  eur: 'sepa',
  uah: 'card',
  btc: 'bitcoin',
  eth: 'ethereum',
  usdt: 'tron',
  trx: 'tron',
};

/** Works the follow-up of an offer as the sandbox would; undefined where the pair does not admit the amount. */
function workFollowUp(c: Case, offer: Offer, plan: Plan) {
  const { currencyFrom } = orderSides(c.type, c.request);
  const revertTo = { network: REFUND_NETWORK[currencyFrom] ?? '', wallet: 'refund' };
  const amount = offer.amount.toFixed();
  const { type, request } = followUpOrder(c, offer.move, amount, 'made.r1', { revertTo });
  const sides = orderSides(type, request);
  const terms = findTerms(type, sides);
  if (!terms) throw new Error(`no pair for ${type}`);
  const quote = quoteFrom(amount, terms);
  const admitted = offer.amount.gte(terms.min) && offer.amount.lte(terms.max ?? '1e30') && new Big(quote.to).gt(0);
  return admitted ? workedCase(terms, { amount }, plan) : undefined;
}

const expectCovered = (funds: Funds, pools: Pools) => {
  expect(funds.unexchanged.plus(funds.returned).lte(pools.from)).toBe(true);
  expect(funds.unpaid.plus(funds.exchanged).lte(pools.to)).toBe(true);
  for (const amount of Object.values(funds) as Big[]) expect(amount.gte(0)).toBe(true);
};

const workedOf = ({ c, truth }: ReturnType<typeof workedCase>): Worked => ({ order: c.order, truth });

/** Follows random decisions with random fates of the follow-ups; throws where one was not covered. */
function follow(parent: ReturnType<typeof workedCase>, decisions: [pick: number, fate: Plan][]) {
  const { c } = parent;
  const left = figures(c);
  const row = rowOf(c, left);
  let funds = openFunds(c, left);
  let pools = poolsLeft(workedOf(parent));
  const made: { offer: Offer; amountTo: Big }[] = [];
  for (const [pick, fate] of decisions) {
    expectCovered(funds, pools);
    const offers = offersOf(c, funds, row);
    const offer = offers[pick % Math.max(offers.length, 1)];
    const worked = offer && workFollowUp(c, offer, fate);
    if (!offer || !worked) break;
    pools = afterWorked(c.order, pools, workedOf(worked));
    const ended = { move: offer.move, amount: offer.amount.toFixed(), case: worked.c, left: figures(worked.c) };
    funds = afterFollowUp(c, funds, ended);
    made.push({ offer, amountTo: new Big(worked.c.order.amount_to ?? '0') });
  }
  expectCovered(funds, pools);
  return made;
}

const choices = fc.array(fc.tuple(fc.nat({ max: 9 }), plans), { minLength: 1, maxLength: 5 });
const larger = (a: Big, b: Big): Big => (a.gt(b) ? a : b);
const total = (amounts: Big[]): Big => amounts.reduce((all, amount) => all.plus(amount), new Big(0));

describe('follow-ups, whatever is decided and whatever becomes of each', () => {
  it('never take more of a currency than the order left and follow-ups brought, and pay or refund no more than asked', () => {
    let secondFollowUps = 0;
    fc.assert(
      fc.property(orders, plans, choices, ({ terms, asked }, plan, decisions) => {
        const parent = workedCase(terms, asked, plan);
        const { c } = parent;
        fc.pre(failedChecks(c, figures(c)).length === 0);
        const made = follow(parent, decisions);
        secondFollowUps += made.length > 1 ? 1 : 0;
        const refunded = made.filter(({ offer }) => offer.move === REFUND).map(({ amountTo }) => amountTo);
        expect(total(refunded).lte(c.order.amount_from ?? '0')).toBe(true);
        if (!('amountTo' in asked)) return;
        const paid = new Big(c.order.amount_to ?? '0');
        const more = made.filter(({ offer }) => offer.move === PAY).map(({ amountTo }) => amountTo);
        expect(paid.plus(total(more)).lte(larger(paid, new Big(asked.amountTo)))).toBe(true);
      }),
      { numRuns: 3000 },
    );
    expect(secondFollowUps).toBeGreaterThan(100);
  });
});
