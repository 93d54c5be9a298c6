import { type Amount, decimal, toAmount } from '../../contract/money.js';
import { type BalanceBook, type BalancesRead, MAX_OTHERS, type Proof } from '../../contract/reconcile/days.js';
import { AHEAD_OF_UTC_MS, DEFAULT_WINDOW_MS } from '../../contract/reconcile/input.js';
import type { BalanceGap, CarriedBalance, ChainSummary } from '../../contract/reconcile/reconcile.js';
import { type Balances, isMalformed } from '../../contract/service-objects.js';
import { balanceIn } from '../order/balances.js';
import { gapOf, spelled, trailOf } from './balance-book.js';

/** What the balances of one currency prove; `balance` is for the next run. */
interface CurrencyProof {
  chain?: ChainSummary;
  gaps: BalanceGap[];
  notes: string[];
  balance?: CarriedBalance;
}

/**
 * Puts the balance changes of the window together, and compares their ends with the balances that an earlier run carried
 * over and with those of now. In a second reading, all changes up to the first one had happened before it began: what is
 * missing then is missing for good.
 */
export function prove(read: BalancesRead, after: Balances | undefined): Omit<Proof, 'againMs'> {
  const { totals, before, carried } = read;
  const now = before && after && new Set([...Object.keys(before), ...Object.keys(after)]);
  const known = read.untilNow ? now : undefined;
  const currencies = new Set([
    ...Object.keys(totals.books),
    ...carried.map(({ currency }) => currency),
    ...(known ?? []),
  ]);
  const proofs = [...currencies].map((currency) => {
    const earlier = carried.find((one) => one.currency === currency);
    return proveOne(read, { currency, earlier, known, shown: quietBalance(currency, before, after) });
  });
  const gaps = proofs.flatMap((proof) => proof.gaps);
  const unread = Object.entries(after ?? {}).flatMap(([currency, entry]) => (isMalformed(entry) ? [currency] : []));
  const quiet = [...(known ?? [])].filter(
    (currency) => !totals.books[currency]?.changes && !carried.some((one) => one.currency === currency),
  );
  return {
    chains: proofs.flatMap(({ chain }) => chain ?? []),
    gaps: gaps.slice(0, MAX_OTHERS),
    gapCount: gaps.length,
    notes: [
      ...(unread.length > 0 ? [`balances that cannot be read were not compared: ${unread.join(', ')}`] : []),
      ...(now ? [] : ['the service showed no balances: the end of the balance changes was not compared']),
      ...proofs.flatMap(({ notes }) => notes),
      ...(quiet.length > 0 ? [`no change and no earlier run to compare with: ${quiet.sort().join(', ')}`] : []),
    ],
    balances: proofs.flatMap(({ balance }) => balance ?? []),
  };
}

/** A balance that was the same before and after the orders were read; a debt is negative. */
function quietBalance(currency: string, before: Balances = {}, after: Balances = {}): Amount | undefined {
  const [first, last] = [before, after].map((balances) => {
    const balance = balanceIn(balances, currency);
    return balance && toAmount(decimal(balance.amount).minus(decimal(balance.overdraft)));
  });
  return first === last ? first : undefined;
}

interface Currency {
  currency: string;
  earlier: CarriedBalance | undefined;
  /** Currencies that the service shows; undefined if balances of now cannot be compared with. */
  known: ReadonlySet<string> | undefined;
  /** The balance now; undefined while it moves. */
  shown: Amount | undefined;
}

/**
 * Proves one currency. Without a change the carried balance must still stand, and with changes it must be one that their
 * chain passes through: what is missing before the first change shows nowhere else. A difference is a gap for as long as
 * the window reaches back to the carried balance; later it is noted, because changes in between were not read.
 */
function proveOne({ totals, fromMs, atMs }: BalancesRead, one: Currency): CurrencyProof {
  const { currency, earlier, known } = one;
  const book = totals.books[currency];
  const { chain, gaps } = book?.changes ? chainOf(book, one) : { chain: undefined, gaps: [] };
  const isProven = chain ? chain.balance === 'equal' : !book?.isLater;
  // A currency that the service leaves out is empty.
  const amount = isProven ? (known?.has(currency) ? one.shown : '0') : undefined;
  const proven = amount === undefined ? undefined : { currency, amount, at: new Date(atMs).toISOString() };
  if (!known || !earlier) return { chain, gaps, notes: [], balance: known?.has(currency) ? proven : earlier };
  const after = spelled(earlier.amount);
  const before = chain ? (book?.passesCarried ? after : chain.start) : (amount ?? after);
  if (decimal(before).eq(decimal(after))) return { chain, gaps, notes: [], balance: proven ?? earlier };
  const sinceMs = Date.parse(earlier.at);
  if (sinceMs >= fromMs + AHEAD_OF_UTC_MS) {
    const gap = { ...gapOf(currency, { after, before }), since: earlier.at, ...(!chain && { now: true as const }) };
    return { chain, gaps: [...gaps, gap], notes: [], balance: earlier };
  }
  const isOld = atMs - sinceMs > DEFAULT_WINDOW_MS;
  return { chain, gaps, notes: [unread(earlier)], balance: (isOld && proven) || earlier };
}

/** The chain of a book, whose end is compared with the balance of now. */
function chainOf(
  book: BalanceBook,
  { currency, earlier, known, shown }: Currency,
): { chain: ChainSummary; gaps: BalanceGap[] } {
  const { start, end, gaps } = trailOf(book, { end: shown, ...(earlier && { start: spelled(earlier.amount) }) });
  const chain = { currency, changes: book.changes, start, end, gaps: gaps.length };
  const shownGaps = gaps.map((gap) => gapOf(currency, gap));
  const before = book.isLater ? undefined : shown;
  if (!known?.has(currency) || book.isOverfull)
    return { chain: { ...chain, balance: 'not compared' }, gaps: shownGaps };
  if (before === undefined) return { chain: { ...chain, balance: 'moving' }, gaps: shownGaps };
  if (before === end) return { chain: { ...chain, balance: 'equal' }, gaps: shownGaps };
  const atEnd: BalanceGap = { ...gapOf(currency, { after: end, before }), now: true };
  return { chain: { ...chain, balance: 'differs' }, gaps: [...shownGaps, atEnd] };
}

function unread({ currency, amount, at }: CarriedBalance): string {
  const from = new Date(Date.parse(at) - AHEAD_OF_UTC_MS).toISOString();
  return `${currency}: no longer ${amount} as at ${at}; what changed since then was not read, --from ${from} reads it`;
}
