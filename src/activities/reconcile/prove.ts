import { type Amount, decimal, toAmount } from '../../contract/money.js';
import type { BalanceBook, BalancesRead, Proof } from '../../contract/reconcile/days.js';
import { AHEAD_OF_UTC_MS, DEFAULT_WINDOW_MS } from '../../contract/reconcile/input.js';
import {
  type BalanceGap,
  type CarriedBalance,
  type ChainSummary,
  MAX_SHOWN,
} from '../../contract/reconcile/reconcile.js';
import { type BalanceChange, type Balances, isMalformed } from '../../contract/service-objects.js';
import { balanceIn } from '../order/balances.js';

interface Currency {
  currency: string;
  book: BalanceBook | undefined;
  earlier: CarriedBalance | undefined;
  /** The service shows the currency, so current balances can be compared. */
  isKnown: boolean;
  /** Current balance; undefined while it changes. */
  shown: Amount | undefined;
}

/** `balance`: for the next run. */
interface CurrencyProof {
  chain?: ChainSummary;
  gaps: BalanceGap[];
  note?: string;
  balance?: CarriedBalance;
}

/** Compares balance changes with carried and current balances. */
export function prove(read: BalancesRead, after: Balances | undefined): Omit<Proof, 'againMs'> {
  const { totals, before, carried, untilNow } = read;
  const now = before && after && { ...before, ...after };
  const known = Object.keys((untilNow && now) || {});
  const currencies = [...Object.keys(totals.books), ...carried.map(({ currency }) => currency), ...known];
  const all = [...new Set(currencies)].map((currency): Currency => {
    const earlier = carried.find((one) => one.currency === currency);
    const isKnown = known.includes(currency);
    return { currency, book: totals.books[currency], earlier, isKnown, shown: quietBalance(currency, before, after) };
  });
  const proofs = all.map((one) => proveOne(read, one, untilNow && now !== undefined));
  const gaps = proofs.flatMap((proof) => proof.gaps);
  const unread = Object.entries(after ?? {}).flatMap(([currency, entry]) => (isMalformed(entry) ? [currency] : []));
  const quiet = all.flatMap(({ currency, book, earlier, isKnown }) =>
    isKnown && !book?.changes && !earlier ? [currency] : [],
  );
  return {
    chains: proofs.flatMap(({ chain }) => chain ?? []),
    gaps: gaps.slice(0, MAX_SHOWN),
    gapCount: gaps.length,
    notes: [
      ...(unread.length > 0 ? [`balances that cannot be read were not compared: ${unread.join(', ')}`] : []),
      ...(now ? [] : ['the service showed no balances: the end of the balance changes was not compared']),
      ...proofs.flatMap(({ note }) => note ?? []),
      ...(quiet.length > 0 ? [`no change and no earlier run to compare with: ${quiet.sort().join(', ')}`] : []),
    ],
    balances: proofs.flatMap(({ balance }) => balance ?? []),
  };
}

/** Returns a balance that did not change during the reading. Debts are negative. */
function quietBalance(currency: string, before: Balances = {}, after: Balances = {}): Amount | undefined {
  const [first, last] = [before, after].map((balances) => {
    const balance = balanceIn(balances, currency);
    return balance && toAmount(decimal(balance.amount).minus(decimal(balance.overdraft)));
  });
  return first === last ? first : undefined;
}

/** Proves that the carried balance still holds, or that changes pass through it. */
function proveOne({ fromMs, atMs }: BalancesRead, one: Currency, isNow: boolean): CurrencyProof {
  const { currency, book, earlier, isKnown } = one;
  const { chain, gaps } = chainOf(one);
  const isProven = chain ? chain.balance === 'equal' : !book?.isLater;
  // A currency that the service omits is empty.
  const amount = isProven ? (isKnown ? one.shown : '0') : undefined;
  const proven = amount === undefined ? undefined : { currency, amount, at: new Date(atMs).toISOString() };
  if (!isNow || !earlier) return { chain, gaps, balance: isKnown ? proven : earlier };
  const after = spelled(earlier.amount);
  const before = chain ? (book?.passesCarried ? after : chain.start) : (amount ?? after);
  if (decimal(before).eq(decimal(after))) return { chain, gaps, balance: proven ?? earlier };
  const sinceMs = Date.parse(earlier.at);
  if (sinceMs >= fromMs + AHEAD_OF_UTC_MS) {
    const gap = { ...gapOf(currency, { after, before }), since: earlier.at, ...(!chain && { now: true as const }) };
    return { chain, gaps: [...gaps, gap], balance: earlier };
  }
  const from = new Date(sinceMs - AHEAD_OF_UTC_MS).toISOString();
  const note = `${currency}: no longer ${earlier.amount} as at ${earlier.at}; what changed since then was not read, --from ${from} reads it`;
  return { chain, gaps, note, balance: (atMs - sinceMs > DEFAULT_WINDOW_MS && proven) || earlier };
}

/** Returns the chain of a book, whose end is compared with the current balance. */
function chainOf({ currency, book, earlier, isKnown, shown }: Currency): { chain?: ChainSummary; gaps: BalanceGap[] } {
  if (!book?.changes) return { gaps: [] };
  const expected = { end: shown, ...(earlier && { start: spelled(earlier.amount) }) };
  const { start, end, missing } = trailOf(book, expected);
  const compared = book.isLater || shown === undefined ? 'moving' : shown === end ? 'equal' : 'differs';
  const balance = isKnown ? compared : 'not compared';
  const after = toAmount(decimal(end).minus(decimal(missing)));
  const gaps = missing === '0' ? [] : [gapOf(currency, { after, before: end })];
  const atEnd = { ...gapOf(currency, { after: end, before: shown ?? end }), now: true as const };
  return {
    chain: { currency, changes: book.changes, start, end, gaps: gaps.length, balance },
    gaps: [...gaps, ...(balance === 'differs' ? [atEnd] : [])],
  };
}

const gapOf = (currency: string, { after, before }: Pick<BalanceGap, 'after' | 'before'>): BalanceGap => ({
  currency,
  amount: toAmount(decimal(before).minus(decimal(after))),
  after,
  before,
});

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
