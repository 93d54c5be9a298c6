import { type Amount, decimal, toAmount } from '../../contract/money.js';
import type { BalanceGap, ChainSummary, ReconcileAccountInput } from '../../contract/reconcile/reconcile.js';
import type { BalanceChange } from '../../contract/service-objects.js';
import { serviceDateTime } from '../../payment-service/paging.js';
import { type BalanceStep, type Trail, trailsOf } from './balance-trails.js';
import type { BalancesNow } from './carried-balances.js';
import type { Scan } from './scan.js';

/** What the changes of one currency show: the first and the last balance, and where money moved in between unseen. */
export type Chain = Omit<ChainSummary, 'gaps' | 'balance'> & { gaps: BalanceGap[] };

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

/** One spelling for one value, "-0" being 0. By text: hundreds of thousands pass while nothing else of the worker runs. */
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

/** Two balances between which changes are missing. */
export type Missing = Pick<BalanceGap, 'after' | 'before'>;

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

/** What the balance changes of a scan prove. `newest`: time of the latest change of each currency. */
export interface Proof {
  chains: ChainSummary[];
  gaps: BalanceGap[];
  newest: ReadonlyMap<string, string>;
  /** For the comparison with an earlier run; absent where balances of now were not to be had or not asked for. */
  now?: BalancesNow;
}

/**
 * Puts the balance changes of the window together. `until`: the latest change of each currency that an earlier scan saw;
 * later ones are left out, because orders that were read before them may have changed meanwhile. Everything up to there
 * had happened before this scan began, so that what is missing then is missing for good.
 */
export function prove(
  { view, balances }: Pick<Scan, 'view' | 'balances'>,
  input: ReconcileAccountInput,
  until?: ReadonlyMap<string, string>,
): Proof {
  const from = serviceDateTime(input.fromMs);
  const to = input.untilNow ? undefined : serviceDateTime(input.toMs);
  const newest = new Map<string, string>();
  const later = new Set<string>();
  const counted: BalanceChange[] = [];
  const isInside = ({ created_at: at }: BalanceChange) => at >= from && (to === undefined || at <= to);
  const changes = [...view.orders.values()].flatMap(({ balance_changes }) => balance_changes.filter(isInside));
  for (const change of changes) {
    const { currency, created_at: at } = change;
    if (at > (newest.get(currency) ?? '')) newest.set(currency, at);
    if (until !== undefined && at > (until.get(currency) ?? '')) later.add(currency);
    else counted.push(change);
  }
  const shown = quietBalances(balances);
  const found = chainsOf(counted, shown);
  const known = new Set(input.untilNow ? balances?.keys() : []);
  const compared = found.map((chain) => {
    const moved = later.has(chain.currency);
    const end = known.has(chain.currency) ? endOf(chain, moved ? undefined : shown.get(chain.currency)) : UNCOMPARED;
    return { ...chain, ...end };
  });
  const unproven = compared.filter(({ balance }) => balance !== 'equal').map(({ currency }) => currency);
  const now = { chains: found, changes: counted, shown, known, open: new Set([...later, ...unproven]) };
  return {
    newest,
    chains: compared.map(({ gaps, atEnd: _, ...chain }) => ({ ...chain, gaps: gaps.length })),
    gaps: compared.flatMap(({ gaps, atEnd }) => [...gaps, ...atEnd]),
    ...(balances && input.untilNow && { now }),
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
function quietBalances(balances: Scan['balances']): Map<string, Amount> {
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
