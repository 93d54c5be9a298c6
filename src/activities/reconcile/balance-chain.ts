import { type Amount, decimal, toAmount } from '../../contract/money.js';
import type { BalanceGap, ChainSummary, ReconcileAccountInput } from '../../contract/reconcile/reconcile.js';
import type { BalanceChange } from '../../contract/service-objects.js';
import { type BalanceFold, type FoldedChanges, gapOf, gapsIn, stepsOf } from './balance-fold.js';
import { trailsOf } from './balance-trails.js';
import type { BalancesNow } from './carried-balances.js';
import type { BalancesSeen } from './scan.js';

/** What the changes of one currency show: the first and the last balance, and where money moved in between unseen. */
export type Chain = Omit<ChainSummary, 'balance'> & { shown: BalanceGap[] };

/**
 * The chain of every currency, in which each `amount_after` is another change's `amount_before`. A change that is missing
 * is a gap between two trails, and its amount is the difference of their balances. `balances`: what the service shows now,
 * which tells the end among changes of one second. `gaps` counts all, `shown` holds the first ones.
 *
 * What this cannot show: missing changes that add up to 0 in a row, and those before the first or after the last one seen
 * (the end is compared with the balances elsewhere).
 */
export const chainsOf = (
  currencies: Readonly<Record<string, FoldedChanges>>,
  balances: ReadonlyMap<string, Amount> = new Map(),
): Chain[] =>
  Object.entries(currencies).flatMap(([currency, changes]) =>
    changes.changes > 0 ? [chainOf(currency, changes, balances.get(currency))] : [],
  );

function chainOf(currency: string, folded: FoldedChanges, balance: Amount | undefined): Chain {
  const steps = stepsOf(folded);
  const found = trailsOf(steps, balance);
  const late = gapsIn(found, steps);
  const shown = [...folded.gaps, ...late].map((gap) => gapOf(currency, gap));
  const gaps = folded.gapCount + late.length;
  return { currency, changes: folded.changes, start: found.start, end: found.end, gaps, shown };
}

/** True when before + change = after. */
export const addsUp = ({ amount_before, amount_change, amount_after }: BalanceChange): boolean =>
  decimal(amount_before).plus(decimal(amount_change)).eq(decimal(amount_after));

/** What the balance changes of a scan prove. */
export interface Proof {
  chains: ChainSummary[];
  gaps: BalanceGap[];
  /** All gaps, those that are not kept included. */
  gapCount: number;
  /** For the comparison with an earlier run; absent where balances of now were not to be had or not asked for. */
  now?: BalancesNow;
}

/**
 * Puts the balance changes of the window together. In a second scan those later than the first are left out, because orders
 * that were read before them may have changed meanwhile. Everything up to there had happened before this scan began, so that
 * what is missing then is missing for good.
 */
export function prove(
  { currencies }: BalanceFold,
  balances: BalancesSeen | undefined,
  { untilNow }: Pick<ReconcileAccountInput, 'untilNow'>,
): Proof {
  const shown = quietBalances(balances);
  const found = chainsOf(currencies, shown);
  const known = new Set(untilNow ? balances?.keys() : []);
  const later = Object.keys(currencies).filter((currency) => currencies[currency]?.moved);
  const compared = found.map((chain) => {
    const moved = later.includes(chain.currency);
    const end = known.has(chain.currency) ? endOf(chain, moved ? undefined : shown.get(chain.currency)) : UNCOMPARED;
    return { ...chain, ...end };
  });
  const unproven = compared.filter(({ balance }) => balance !== 'equal').map(({ currency }) => currency);
  const passing = new Set(Object.keys(currencies).filter((currency) => currencies[currency]?.passesCarried));
  const now = { chains: found, passing, shown, known, open: new Set([...later, ...unproven]) };
  return {
    chains: compared.map(({ shown: _, atEnd: __, ...chain }) => chain),
    gaps: compared.flatMap(({ shown: gaps, atEnd }) => [...gaps, ...atEnd]),
    gapCount: compared.reduce((sum, { gaps, atEnd }) => sum + gaps + atEnd.length, 0),
    ...(balances && untilNow && { now }),
  };
}

/** How the end of a chain compares with the balance, and the gap between the two. */
interface ChainEnd {
  balance: ChainSummary['balance'];
  atEnd: BalanceGap[];
}

const UNCOMPARED: ChainEnd = { balance: 'not compared', atEnd: [] };

/** `before`: the balance now; undefined while it moves. */
function endOf({ currency, end }: Chain, before: Amount | undefined): ChainEnd {
  if (before === undefined) return { balance: 'moving', atEnd: [] };
  if (before === end) return { balance: 'equal', atEnd: [] };
  return { balance: 'differs', atEnd: [{ ...gapOf(currency, { after: end, before }), now: true }] };
}

/** Balances that were the same before and after the scan; a debt counts as negative. */
function quietBalances(balances: BalancesSeen | undefined): Map<string, Amount> {
  const quiet = new Map<string, Amount>();
  for (const [currency, { before, after }] of balances ?? []) {
    if (!before || !after) continue;
    const [first, last] = [before, after].map(({ amount, overdraft }) =>
      toAmount(decimal(amount).minus(decimal(overdraft))),
    );
    if (last !== undefined && first === last) quiet.set(currency, last);
  }
  return quiet;
}
