import { type Amount, decimal, toAmount } from '../../contract/money.js';
import { quietBalance, spelled, trailsOf } from '../../contract/reconcile/balance-book.js';
import type { BalanceBook, BalancesRead, Proof } from '../../contract/reconcile/days.js';
import { AHEAD_OF_UTC_MS, DEFAULT_WINDOW_MS } from '../../contract/reconcile/input.js';
import {
  type BalanceGap,
  type CarriedBalance,
  type ChainSummary,
  MAX_SHOWN,
} from '../../contract/reconcile/reconcile.js';
import { type Balances, isMalformed } from '../../contract/service-objects.js';

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
  const around = { end: [shown ?? []].flat(), start: earlier ? [spelled(earlier.amount)] : [] };
  const [{ start, end, missing }] = trailsOf(book, around);
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
