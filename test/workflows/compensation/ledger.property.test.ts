import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { failedChecks } from '../../../src/workflows/compensation/checks.js';
import { type Case, figures } from '../../../src/workflows/compensation/figures.js';
import { orders, plans } from './arbitraries.fixture.js';
import { truthFor, workedCase, written } from './cases.fixture.js';

const directions = fc.constantFrom('times' as const, 'divided' as const);

describe('orders worked by the sandbox', () => {
  it('leave exactly what the figures say, for every pair, payer, outcome and stage', () => {
    fc.assert(
      fc.property(orders, plans, ({ terms, asked: wanted }, plan) => {
        const { c, truth } = workedCase(terms, wanted, plan);
        expect(written(figures(c))).toEqual(truthFor(c.type, truth));
      }),
      { numRuns: 1000 },
    );
  });

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

  it('are not believed with another payer of a commission, also where rates never said so', () => {
    const sides = fc.constantFrom('from' as const, 'to' as const);
    fc.assert(
      fc.property(orders, plans, directions, sides, ({ terms, asked: wanted }, plan, direction, side) => {
        const { c } = workedCase(terms, wanted, plan, direction);
        const payers = { from: null, to: null, ...c.payers };
        fc.pre(isCharged(c, side) && c.type !== 'deposit');
        // Where clients bear both, the part of each in what is expected cannot always be told: rates alone tell then.
        fc.pre(payers.from !== 'client' || payers.to !== 'client');
        const other = payers[side] === 'client' ? 'merchant' : 'client';
        const wrong = { ...c, payers: { ...payers, [side]: other } };
        expect(failedChecks(wrong, figures(wrong))).not.toEqual([]);
        const told = { ...c, laterPayers: { ...payers, [side]: other } };
        expect(failedChecks(told, figures(told))).not.toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });
});

const isCharged = ({ order, changes }: Case, side: 'from' | 'to'): boolean =>
  Number(order[`amount_${side}_fee`] ?? 0) > 0 &&
  changes.some((change) => change.currency === order[`currency_${side}`]);
