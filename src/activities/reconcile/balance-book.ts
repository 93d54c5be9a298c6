import { type Amount, decimal, toAmount } from '../../contract/money.js';
import type { BalanceBook } from '../../contract/reconcile/days.js';
import type { BalanceGap } from '../../contract/reconcile/reconcile.js';
import type { BalanceChange } from '../../contract/service-objects.js';

/**
 * Balance changes as a graph: an edge from the balance before to the balance after. In a complete trail each balance is
 * left as often as it is arrived at, except the first and the last one; a missing change leaves two more such tips. So a
 * book needs only its tips, in whatever order the changes come, and the gaps add up to what is missing.
 *
 * This cannot show missing changes that add up to 0, and those before the first or after the last change seen.
 */

/** Tips of one currency that are kept: 10,000 are about half a megabyte, and a payload may have two. */
const MAX_TIPS = 10_000;

/** Which changes count, and what they are looked at for. */
export interface BookScope {
  /** Times as the service writes them; both ends belong to it. */
  from: string;
  to?: string;
  /** The latest change of each currency that counts; if absent, all count. */
  until?: Readonly<Record<string, string>>;
  /** Balances of an earlier run by currency. */
  carried?: ReadonlyMap<string, Amount>;
}

/** Adds the balance changes of an order to the books of their currencies. */
export function addChanges(
  books: Record<string, BalanceBook>,
  changes: readonly BalanceChange[],
  { from, to, until, carried }: BookScope,
): void {
  for (const change of changes) {
    const { currency, created_at: at } = change;
    if (at < from || (to !== undefined && at > to)) continue;
    books[currency] ??= { changes: 0, first: { at: '', balances: [] }, last: { at: '', balances: [] }, tips: {} };
    if (until !== undefined && at > (until[currency] ?? '')) books[currency].isLater = true;
    else addChange(books[currency], change, carried?.get(currency));
  }
}

function addChange(book: BalanceBook, change: BalanceChange, carried: Amount | undefined): void {
  const at = change.created_at;
  const [before, after] = [spelled(change.amount_before), spelled(change.amount_after)];
  if (book.changes === 0 || at < book.first.at) book.first = { at, balances: [] };
  if (at > book.last.at) book.last = { at, balances: [] };
  if (at === book.first.at && !book.first.balances.includes(before)) book.first.balances.push(before);
  if (at === book.last.at && !book.last.balances.includes(after)) book.last.balances.push(after);
  book.changes += 1;
  if (before === carried || after === carried) book.passesCarried = true;
  if (book.isOverfull) return;
  addTip(book.tips, before, 1, at);
  addTip(book.tips, after, -1, at);
}

/** Counts a balance as left (1) or arrived at (-1); of several times the outermost one stays. */
function addTip(tips: BalanceBook['tips'], balance: Amount, by: 1 | -1, at: string): void {
  const [surplus, time] = tips[balance] ?? [0, at];
  if (surplus + by === 0) delete tips[balance];
  else tips[balance] = [surplus + by, surplus * by > 0 && at < time === by > 0 ? at : time];
}

/** Closes the books with more tips than can be kept, and returns their currencies. */
export function closeOverfull(books: Record<string, BalanceBook>, most = MAX_TIPS): string[] {
  const overfull = Object.entries(books).filter(([, { tips }]) => Object.keys(tips).length > most);
  for (const [, book] of overfull) Object.assign(book, { isOverfull: true, tips: {} });
  return overfull.map(([currency]) => currency);
}

/** Two balances between which changes are missing. */
type Missing = Pick<BalanceGap, 'after' | 'before'>;

/**
 * Finds the first and the last balance of a book with changes, and the gaps between them. `expected`: the likely ones,
 * which decide among changes of one second.
 */
export function trailOf(
  { first, last, tips }: BalanceBook,
  expected: { start?: Amount; end?: Amount } = {},
): { start: Amount; end: Amount; gaps: Missing[] } {
  const surplus = (balance: Amount) => tips[balance]?.[0] ?? 0;
  const begins = first.balances.filter((balance) => surplus(balance) > 0);
  const ends = last.balances.filter((balance) => surplus(balance) < 0);
  // A trail that comes back to where it began shows neither.
  const both = begins.length + ends.length > 0 ? [] : last.balances.filter((one) => first.balances.includes(one));
  const end = oneOf([both, ends, last.balances], expected.end);
  const start = both.length > 0 ? end : oneOf([begins, first.balances], expected.start);
  const open = { ...tips };
  addTip(open, start, -1, first.at);
  addTip(open, end, 1, last.at);
  const left = tipsIn(open, 1);
  return { start, end, gaps: tipsIn(open, -1).map((after, index) => ({ after, before: left[index] ?? end })) };
}

/** The wanted balance of the first list that has any, or its first one. */
function oneOf(lists: readonly Amount[][], wanted: Amount | undefined): Amount {
  const [list = []] = lists.filter(({ length }) => length > 0);
  const [first = '0'] = list;
  return wanted !== undefined && list.includes(wanted) ? wanted : first;
}

/** Balances with a surplus of this sign, each as often as it has it, by time. */
const tipsIn = (tips: BalanceBook['tips'], sign: 1 | -1): Amount[] =>
  Object.entries(tips)
    .sort(([, [, a]], [, [, b]]) => (a < b ? -1 : a > b ? 1 : 0))
    .flatMap(([balance, [surplus]]) => Array<Amount>(Math.max(0, surplus * sign)).fill(balance));

/** The gap between two balances; its amount is what must have come (or gone, negative) in between. */
export const gapOf = (currency: string, { after, before }: Missing): BalanceGap => ({
  currency,
  amount: toAmount(decimal(before).minus(decimal(after))),
  after,
  before,
});

/** One spelling for one value, "-0" being 0. */
export function spelled(amount: Amount): Amount {
  const value = decimal(amount);
  return value.eq(0) ? '0' : toAmount(value);
}
