import { type Amount, decimal, toAmount } from '../../contract/money.js';
import type { BalanceChange } from '../../contract/order/order.js';
import type { BalanceGap, ChainSummary, ReconcileAccountInput } from '../../contract/reconcile/reconcile.js';
import { serviceDateTime } from '../../payment-service/index.js';
import { type Chain, chainsOf, gapOf } from './balance-chain.js';
import type { BalancesNow } from './compare-carried.js';
import type { Scan } from './scan.js';

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
  for (const { balance_changes: changes } of view.orders.values()) {
    for (const change of changes) {
      const { currency, created_at: at } = change;
      if (at < from || (to !== undefined && at > to)) continue;
      if (at > (newest.get(currency) ?? '')) newest.set(currency, at);
      if (until !== undefined && at > (until.get(currency) ?? '')) later.add(currency);
      else counted.push(change);
    }
  }
  const shown = quietBalances(balances);
  const chains = chainsOf(counted, shown).map((chain) => {
    const compared = input.untilNow ? compareEnd(chain, balances, shown, later) : 'not compared';
    return { chain, balance: compared };
  });
  return {
    newest,
    chains: chains.map(({ chain, balance }) => ({ ...chain, gaps: chain.gaps.length, balance })),
    gaps: chains.flatMap(({ chain, balance }) => [
      ...chain.gaps,
      ...(balance === 'differs' ? endGap(chain, shown) : []),
    ]),
    ...(balances && input.untilNow && { now: balancesNow(chains, counted, balances, later) }),
  };
}

function balancesNow(
  chains: readonly { chain: Chain; balance: ChainSummary['balance'] }[],
  changes: readonly BalanceChange[],
  balances: NonNullable<Scan['balances']>,
  later: ReadonlySet<string>,
): BalancesNow {
  const unproven = chains.filter(({ balance }) => balance !== 'equal').map(({ chain }) => chain.currency);
  return {
    chains: chains.map(({ chain }) => chain),
    changes,
    shown: quietBalances(balances),
    known: new Set(balances.keys()),
    open: new Set([...later, ...unproven]),
  };
}

function compareEnd(
  { currency, end }: Chain,
  balances: Scan['balances'],
  shown: ReadonlyMap<string, Amount>,
  later: ReadonlySet<string>,
): ChainSummary['balance'] {
  if (!balances?.has(currency)) return 'not compared';
  const balance = shown.get(currency);
  if (balance === undefined || later.has(currency)) return 'moving';
  return balance === end ? 'equal' : 'differs';
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

const endGap = ({ currency, end }: Chain, shown: ReadonlyMap<string, Amount>): BalanceGap[] => {
  const before = shown.get(currency);
  return before === undefined ? [] : [{ ...gapOf(currency, { after: end, before }), now: true }];
};
