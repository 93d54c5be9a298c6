import { type Amount, decimal, toAmount } from '../money.js';
import { type BalanceChange, type Balances, balanceIn } from '../service-objects.js';
import type { BalanceBook } from './days.js';

/* Sum of one currency's balance changes, from one balance to another. */

/** Changes that count, and what to look for. */
export interface BookScope {
  /** Times in the service's format, both ends included. */
  from: string;
  to?: string;
  /** Latest change of each currency that counts; absent = all count. */
  until?: Readonly<Record<string, string>>;
  /** Balances of an earlier run by currency. */
  carried?: ReadonlyMap<string, Amount>;
}

/** Adds the changes of one order, which are in their order. */
export function addChanges(
  books: Record<string, BalanceBook>,
  changes: readonly BalanceChange[],
  { from, to, until, carried }: BookScope,
): void {
  const before: Record<string, BalanceChange> = {};
  for (const change of changes) {
    const { currency, created_at: at } = change;
    const previous = before[currency];
    before[currency] = change;
    if (at < from || (to !== undefined && at > to)) continue;
    books[currency] ??= { changes: 0, sum: '0', first: secondAt(''), last: secondAt('') };
    if (until !== undefined && at > (until[currency] ?? '')) books[currency].isLater = true;
    else addChange(books[currency], change, previous, carried?.get(currency));
  }
}

const secondAt = (at: string): BalanceBook['first'] => ({ at, left: [], reached: [] });

function addChange(
  book: BalanceBook,
  change: BalanceChange,
  previous: BalanceChange | undefined,
  carried: Amount | undefined,
): void {
  const at = change.created_at;
  const [before, after] = [spelled(change.amount_before), spelled(change.amount_after)];
  if (book.changes === 0 || at < book.first.at) book.first = secondAt(at);
  if (at > book.last.at) book.last = secondAt(at);
  // A balance that only this order passed through begins or ends no second.
  const isPassed = previous?.created_at === at && spelled(previous.amount_after) === before;
  for (const second of [book.first, book.last]) {
    if (second.at !== at) continue;
    if (isPassed) second.reached.pop();
    else second.left.push(before);
    second.reached.push(after);
  }
  book.changes += 1;
  book.sum = spelled(toAmount(decimal(book.sum).plus(decimal(after)).minus(decimal(before))));
  if (before === carried || after === carried) book.passesCarried = true;
}

/** First and last balance of a book, and the sum that is missing between them. */
interface Trail {
  start: Amount;
  end: Amount;
  missing: Amount;
}

/** Balances that are known around a book. They decide within one second. */
export interface Around {
  start?: readonly Amount[];
  end?: readonly Amount[];
}

/** Returns the trails of a book that miss nothing; otherwise one that does. */
export function trailsOf(book: BalanceBook, around: Around = {}): [Trail, ...Trail[]] {
  const starts = startsOf(book, around.start);
  const trails = endsOf(book, around.end).flatMap((end) =>
    starts.map((start) => ({
      start,
      end,
      missing: spelled(toAmount(decimal(end).minus(decimal(start)).minus(decimal(book.sum)))),
    })),
  );
  const [whole, ...others] = trails.filter(({ missing }) => missing === '0');
  return whole ? [whole, ...others] : [trails[0] ?? { start: '0', end: '0', missing: book.sum }];
}

/** Returns the balances at which a book may begin; if possible, wanted ones. */
export const startsOf = ({ first }: BalanceBook, wanted?: readonly Amount[]): Amount[] =>
  openIn(first.left, first.reached, wanted);

/** Returns the balances at which a book may end; if possible, wanted ones. */
export const endsOf = ({ last }: BalanceBook, wanted?: readonly Amount[]): Amount[] =>
  openIn(last.reached, last.left, wanted);

/** Returns the balances of a second that do not cancel out; all if it ends where it began. */
function openIn(balances: readonly Amount[], others: readonly Amount[], wanted: readonly Amount[] = []): Amount[] {
  const open = [...balances];
  for (const other of others) {
    const at = open.indexOf(other);
    if (at >= 0) open.splice(at, 1);
  }
  const ends = [...new Set(open.length > 0 ? open : balances)];
  const fitting = ends.filter((end) => wanted.includes(end));
  return fitting.length > 0 ? fitting : ends;
}

/** Returns one spelling per value; "-0" is 0. */
export function spelled(amount: Amount): Amount {
  const value = decimal(amount);
  return value.eq(0) ? '0' : toAmount(value);
}

/** Returns a balance that did not change during the reading. Debts are negative. */
export function quietBalance(currency: string, before: Balances = {}, after: Balances = {}): Amount | undefined {
  const [first, last] = [before, after].map((balances) => {
    const balance = balanceIn(balances, currency);
    return balance && toAmount(decimal(balance.amount).minus(decimal(balance.overdraft)));
  });
  return first === last ? first : undefined;
}
