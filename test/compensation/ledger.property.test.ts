import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startSandbox } from '../../sandbox/index.js';
import type { Plan } from '../../sandbox/plan.js';
import { serviceOf } from '../../scripts/service-of.js';
import { payersOf } from '../../src/activities/shared-rates.js';
import { failedChecks } from '../../src/workflows/compensation/checks.js';
import { figures } from '../../src/workflows/compensation/figures.js';
import { orders, plans } from './arbitraries.js';
import { requestOf, truthFor, workedCase, written } from './cases.js';

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

  it('leave exactly that in what the running service publishes', async () => {
    const settings = { overdraft: true, durationsMs: { pay: 0, execute: 0 }, callbacks: { enabled: false } };
    const sandbox = await startSandbox({ settings });
    onTestFinished(() => sandbox.close());
    const service = await serviceOf(sandbox);
    const rates = await service.rates();
    const seed = Date.now();
    const cases = fc.sample(fc.tuple(orders, plans), { numRuns: 150, seed });
    const made = await Promise.all(
      cases.map(async ([{ terms, asked: wanted }, plan], n) => {
        const request = { ...requestOf(terms, wanted), order_id: `order-${n}`, description: markerOf(plan) };
        await service.createOrder(terms.orderType, request as never);
        return { type: terms.orderType, request, payers: payersOf(rates, terms.orderType, request) };
      }),
    );
    await expect.poll(() => sandbox.orders().every(({ order }) => order.finalized_at !== null)).toBe(true);
    const truths = new Map(sandbox.orders().map(({ order, truth }) => [order.user_order_id, truth]));
    for (const { type, request, payers } of made) {
      const [item] = (await service.listOrders({ order_ids: [request.order_id] })).items;
      if (!item) throw new Error(`${request.order_id} is not listed`);
      const c = { type, request, order: item, changes: item.balance_changes, payers };
      const truth = truths.get(request.order_id) ?? { unexchanged: '?', unpaid: '?' };
      expect(written(figures(c)), `seed ${seed}: ${type} ${request.description}`).toEqual(truthFor(type, truth));
    }
  });
});

/** The marker that gives an order its plan. */
function markerOf({ outcome, stage, unexchanged, unpaid, paid, rateFactor }: Plan): string {
  const left = unexchanged === '0' ? 'unpaid' : unpaid === '0' ? 'unexchanged' : 'both';
  const fraction = unexchanged === '0' ? unpaid : unexchanged;
  return `[sandbox outcome=${outcome} stage=${stage} left=${left} fraction=${fraction} paid=${paid} rate=${rateFactor}]`;
}
