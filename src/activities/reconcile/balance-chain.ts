import { type Amount, decimal, toAmount } from '../../contract/money.js';
import type { BalanceChange } from '../../contract/order/order.js';
import type { BalanceGap } from '../../contract/reconcile/reconcile.js';
import { type BalanceStep, type Trail, trailsOf } from './balance-trails.js';

/** What the changes of one currency show: the first and the last balance, and where money moved in between unseen. */
export interface Chain {
  currency: string;
  changes: number;
  start: Amount;
  end: Amount;
  gaps: BalanceGap[];
}

/**
 * The chain of every currency, in which each `amount_after` is another change's `amount_before`. A change that is missing
 * is a gap between two trails, and its amount is the difference of their balances. `balances`: what the service shows now,
 * which tells the end among changes of one second.
 *
 * What this cannot show: missing changes that add up to 0 in a row, and those before the first or after the last one seen
 * (the end is compared with the balances elsewhere).
 */
export function chainsOf(changes: Iterable<BalanceChange>, balances: ReadonlyMap<string, Amount> = new Map()): Chain[] {
  const byCurrency = new Map<string, BalanceStep[]>();
  for (const { currency, amount_before, amount_after, created_at: at } of changes) {
    const steps = byCurrency.get(currency) ?? [];
    byCurrency.set(currency, steps);
    steps.push({ before: spelled(amount_before), after: spelled(amount_after), at });
  }
  return [...byCurrency].map(([currency, steps]) => chainOf(currency, steps, balances.get(currency)));
}

/** True when before + change = after. */
export const addsUp = ({ amount_before, amount_change, amount_after }: BalanceChange): boolean =>
  decimal(amount_before).plus(decimal(amount_change)).eq(decimal(amount_after));

/**
 * One spelling for one value: "100.00" and "100" are the same balance, and "-0" is 0. By text, because hundreds of
 * thousands of them go through here at once and nothing else of the worker runs meanwhile.
 */
export function spelled(amount: Amount): Amount {
  const short = amount.includes('.') ? amount.replace(/\.?0+$/, '') : amount;
  const plain = short.replace(/^(-?)0+(?=\d)/, '$1');
  return plain === '-0' ? '0' : plain;
}

function chainOf(currency: string, steps: BalanceStep[], balance: Amount | undefined): Chain {
  const { trails, asides, start, end } = trailsOf(steps, balance === undefined ? undefined : spelled(balance));
  const gaps = [...between(trails), ...asides.flatMap((aside) => around(aside, steps))];
  return { currency, changes: steps.length, start, end, gaps: gaps.map((gap) => gapOf(currency, gap)) };
}

interface Missing {
  after: Amount;
  before: Amount;
}

const between = (trails: readonly Trail[]): Missing[] =>
  trails.slice(1).flatMap(({ from: before }, index) => {
    const after = trails[index]?.to;
    return after === undefined ? [] : [{ after, before }];
  });

/** The changes that led from the main trail to one beside it and back are missing. */
function around({ from, to, since, holds }: Trail, steps: readonly BalanceStep[]): Missing[] {
  const outside = steps.filter(({ before }) => !holds(before));
  const left = outside.findLast(({ at }) => at <= since)?.after ?? outside[0]?.before ?? from;
  return [
    { after: left, before: from },
    { after: to, before: left },
  ];
}

/** The gap between two balances; its amount is what must have come (or gone, negative) in between. */
export const gapOf = (currency: string, { after, before }: Missing): BalanceGap => ({
  currency,
  amount: toAmount(decimal(before).minus(decimal(after))),
  after,
  before,
});
