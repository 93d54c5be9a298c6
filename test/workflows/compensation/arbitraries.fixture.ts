import Big from 'big.js';
import fc from 'fast-check';
import { LEFTOVERS, type Plan, STAGES } from '../../../sandbox/plan.js';
import { quoteFrom, quoteTo } from '../../../sandbox/quote.js';
import { TERMS, type Terms } from '../../../sandbox/rates.js';
import { ORDER_TYPES } from '../../../src/contract/order/types.js';

/** A pair of a type, every type as often as the others. */
const pairs = fc
  .constantFrom(...ORDER_TYPES)
  .chain((type) => fc.constantFrom(...[...TERMS.values()].filter(({ orderType }) => orderType === type)));
const fraction = fc.integer({ min: 1, max: 999_999 }).map((millionths) => (millionths / 1e6).toFixed(6));

type Asked = { amount: string } | { amountTo: string };

/** A pair and an amount it admits, with as many decimals as it allows; exact payouts where the type knows them. */
export const orders = fc
  .tuple(pairs, fc.bigInt({ min: 1n, max: 10n ** 24n }), fc.integer({ min: 0, max: 5 }), fc.boolean())
  .map(([terms, digits, magnitude, exact]) => ({ terms, asked: asked(terms, digits, magnitude, exact) }))
  .filter(({ terms, asked: wanted }) => {
    const quote = 'amount' in wanted ? quoteFrom(wanted.amount, terms) : quoteTo(wanted.amountTo, terms);
    const within = new Big(quote.from).gte(terms.min) && new Big(quote.from).lte(terms.max ?? '1e30');
    return within && new Big(quote.credited).gt(0) && new Big(quote.to).gt(0);
  });

function asked(terms: Terms, digits: bigint, magnitude: number, exact: boolean): Asked {
  const amount = admitted(terms, digits, magnitude);
  const knowsExact = terms.orderType.includes('exchange_withdraw');
  const { to } = quoteFrom(amount, terms);
  return exact && knowsExact && new Big(to).gt(0) ? { amountTo: to } : { amount };
}

/** min + a random part of 10 ** magnitude · min, cut to the currency's precision. */
function admitted(terms: Terms, digits: bigint, magnitude: number): string {
  const part = new Big(digits.toString()).times(`1e-24`).times(`1e${magnitude}`).times(terms.min);
  return new Big(terms.min).plus(part).round(terms.precisionFrom, Big.roundDown).toFixed();
}

/** The fate of an order: outcome, how far it came, what it left, another deposit or rate than expected. */
export const plans: fc.Arbitrary<Plan> = fc
  .record({
    outcome: fc.constantFrom('completed', 'completed_partially', 'error', 'canceled'),
    stage: fc.constantFrom(...STAGES),
    left: fc.constantFrom(...LEFTOVERS),
    unexchanged: fraction,
    unpaid: fraction,
    paid: fc.constantFrom('1', '0.93', '1.2'),
    rateFactor: fc.constantFrom('1', '0.98', '1.0173'),
  })
  .map(
    ({ left, ...plan }) =>
      ({
        ...plan,
        unexchanged: plan.outcome === 'completed_partially' && left !== 'unpaid' ? plan.unexchanged : '0',
        unpaid: plan.outcome === 'completed_partially' && left !== 'unexchanged' ? plan.unpaid : '0',
      }) as Plan,
  );

/** Plans of orders that end partially. */
export const partialPlans: fc.Arbitrary<Plan> = plans.filter(({ outcome }) => outcome === 'completed_partially');
