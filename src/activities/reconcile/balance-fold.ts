import { type Amount, decimal, toAmount } from '../../contract/money.js';
import type { BalanceGap } from '../../contract/reconcile/reconcile.js';
import type { BalanceChange } from '../../contract/service-objects.js';
import { type BalanceStep, type Trail, type Trails, trailsOf } from './balance-trails.js';

/** So many changes of a currency are held before those that are complete are folded. */
const FOLD_ABOVE = 4_000;
/** Gaps that are kept within what is folded; their count is complete. */
const MAX_GAPS = 500;

/** Two balances between which changes are missing. */
export type Missing = Pick<BalanceGap, 'after' | 'before'>;

/** The changes of one currency: those that are held, and one step that stands for all before a time. Plain JSON. */
export interface FoldedChanges {
  changes: number;
  /** Time of the latest change, left-out ones included. */
  newest: string;
  held: BalanceStep[];
  folded?: BalanceStep;
  /** Gaps within what is folded. */
  gaps: Missing[];
  gapCount: number;
  /** Changes came that were left out, because they are later than an earlier scan. */
  moved?: true;
  /** A change passed through the balance that an earlier run carried over. */
  passesCarried?: true;
}

/** Which changes count, and what they are looked at for. */
export interface FoldScope {
  /** Times as the service writes them; both ends belong to it. */
  from: string;
  to?: string;
  /** The latest change of each currency that counts; without it all do. */
  until?: Readonly<Record<string, string>>;
  /** Balances of an earlier run by currency, in one spelling. */
  carried?: ReadonlyMap<string, Amount>;
}

/**
 * The balance changes of all orders in little memory: once every change before a time has been seen, they are one step from
 * their first balance to their last, with the gaps that they show.
 */
export class BalanceFold {
  constructor(
    private readonly scope: FoldScope,
    readonly currencies: Record<string, FoldedChanges> = {},
  ) {}

  take(changes: readonly BalanceChange[]): void {
    const { from, to, until } = this.scope;
    for (const { currency, amount_before, amount_after, created_at: at } of changes) {
      if (at < from || (to !== undefined && at > to)) continue;
      const folded = this.#of(currency);
      if (at > folded.newest) folded.newest = at;
      if (until !== undefined && at > (until[currency] ?? '')) folded.moved = true;
      else this.#count(currency, folded, { before: spelled(amount_before), after: spelled(amount_after), at });
    }
  }

  /** Folds what happened before this time, of currencies that hold many changes: nothing earlier may come any more. */
  foldBefore(time: string): void {
    for (const one of Object.values(this.currencies)) if (one.held.length > FOLD_ABOVE) fold(one, time);
  }

  #of(currency: string): FoldedChanges {
    this.currencies[currency] ??= { changes: 0, newest: '', held: [], gaps: [], gapCount: 0 };
    return this.currencies[currency];
  }

  #count(currency: string, folded: FoldedChanges, step: BalanceStep): void {
    folded.changes += 1;
    folded.held.push(step);
    const carried = this.scope.carried?.get(currency);
    if (carried !== undefined && (step.before === carried || step.after === carried)) folded.passesCarried = true;
  }
}

/** Puts the changes before a time together. One that begins and ends at the same balance stays: where it hangs on shows later. */
export function fold(changes: FoldedChanges, time: string): void {
  const past = changes.held.filter(({ at }) => at < time);
  const rest = changes.held.filter(({ at }) => at >= time);
  const next = rest.reduce<BalanceStep | undefined>((one, step) => (one && one.at <= step.at ? one : step), undefined);
  const steps = stepsOf({ folded: changes.folded, held: past });
  if (past.length === 0) return;
  const found = trailsOf(steps, next?.before);
  if (!changes.folded && found.start === found.end) return;
  const gaps = gapsIn(found, steps);
  const until = past.reduce((latest, { at }) => (at > latest ? at : latest), changes.folded?.until ?? '');
  changes.folded = { before: found.start, after: found.end, at: '', until };
  changes.held = rest;
  changes.gaps = [...changes.gaps, ...gaps].slice(0, MAX_GAPS);
  changes.gapCount += gaps.length;
}

/** The steps behind a currency's changes; what is folded comes first. */
export const stepsOf = ({ folded, held }: Pick<FoldedChanges, 'folded' | 'held'>): BalanceStep[] => [
  ...(folded ? [folded] : []),
  ...held,
];

/** Where changes are missing between and beside trails. */
export const gapsIn = ({ trails, asides }: Trails, steps: readonly BalanceStep[]): Missing[] => [
  ...between(trails),
  ...asides.flatMap((aside) => around(aside, steps)),
];

const between = (trails: readonly Trail[]): Missing[] =>
  trails.slice(1).flatMap(({ from: before }, index) => {
    const after = trails[index]?.to;
    return after === undefined ? [] : [{ after, before }];
  });

/** A piece beside the main trail: two gaps, from the main trail to its begin and from its end back. */
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

/** One spelling for one value, "-0" being 0. By text: hundreds of thousands pass while nothing else of the worker runs. */
export function spelled(amount: Amount): Amount {
  const short = amount.includes('.') ? amount.replace(/\.?0+$/, '') : amount;
  const plain = short.replace(/^(-?)0+(?=\d)/, '$1');
  return plain === '-0' ? '0' : plain;
}
