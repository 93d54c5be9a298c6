import { type Amount, decimal, toAmount } from '../../contract/money.js';
import type { BalanceBook } from '../../contract/reconcile/days.js';
import type { BalanceChange } from '../../contract/service-objects.js';

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

/** Returns the first and last balance, and the missing sum. `expected` decides in one second. */
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

/** Balances of a second that do not cancel out, or all if it ends where it began. */
function endsOf(balances: readonly Amount[], others: readonly Amount[], wanted: Amount | undefined): Amount[] {
  const open = [...balances];
  for (const other of others) {
    const at = open.indexOf(other);
    if (at >= 0) open.splice(at, 1);
  }
  const ends = [...new Set(open.length > 0 ? open : balances)];
  return wanted !== undefined && ends.includes(wanted) ? [wanted] : ends;
}

/** One spelling for one value, "-0" being 0. */
export function spelled(amount: Amount): Amount {
  const value = decimal(amount);
  return value.eq(0) ? '0' : toAmount(value);
}
