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

export function addChanges(
  books: Record<string, BalanceBook>,
  changes: readonly BalanceChange[],
  { from, to, until, carried }: BookScope,
): void {
  for (const change of changes) {
    const { currency, created_at: at } = change;
    if (at < from || (to !== undefined && at > to)) continue;
    books[currency] ??= { changes: 0, sum: '0', first: secondAt(''), last: secondAt('') };
    if (until !== undefined && at > (until[currency] ?? '')) books[currency].isLater = true;
    else addChange(books[currency], change, carried?.get(currency));
  }
}

const secondAt = (at: string): BalanceBook['first'] => ({ at, left: [], reached: [] });

function addChange(book: BalanceBook, change: BalanceChange, carried: Amount | undefined): void {
  const at = change.created_at;
  const [before, after] = [spelled(change.amount_before), spelled(change.amount_after)];
  if (book.changes === 0 || at < book.first.at) book.first = secondAt(at);
  if (at > book.last.at) book.last = secondAt(at);
  for (const second of [book.first, book.last]) {
    if (second.at !== at) continue;
    second.left.push(before);
    second.reached.push(after);
  }
  book.changes += 1;
  book.sum = spelled(toAmount(decimal(book.sum).plus(decimal(after)).minus(decimal(before))));
  if (before === carried || after === carried) book.passesCarried = true;
}

/** Returns the first and last balance and the missing sum. `expected` decides within one second. */
export function trailOf(
  { first, last, sum }: BalanceBook,
  expected: { start?: Amount; end?: Amount } = {},
): { start: Amount; end: Amount; missing: Amount } {
  const starts = endsOf(first.left, first.reached, expected.start);
  const ends = endsOf(last.reached, last.left, expected.end);
  const trails = ends.flatMap((end) =>
    starts.map((start) => ({
      start,
      end,
      missing: spelled(toAmount(decimal(end).minus(decimal(start)).minus(decimal(sum)))),
    })),
  );
  return trails.find(({ missing }) => missing === '0') ?? trails[0] ?? { start: '0', end: '0', missing: sum };
}

/** Returns the balances of a second that do not cancel out; all if it ends where it began. */
function endsOf(balances: readonly Amount[], others: readonly Amount[], wanted: Amount | undefined): Amount[] {
  const open = [...balances];
  for (const other of others) {
    const at = open.indexOf(other);
    if (at >= 0) open.splice(at, 1);
  }
  const ends = [...new Set(open.length > 0 ? open : balances)];
  return wanted !== undefined && ends.includes(wanted) ? [wanted] : ends;
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
