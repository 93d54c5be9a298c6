import { BalanceFold, type FoldScope } from '../../../src/activities/reconcile/balance-fold.js';
import type { OurEnd } from '../../../src/activities/reconcile/compare.js';
import type { SeenOrder } from '../../../src/activities/reconcile/scan.js';
import type { BalanceChange } from '../../../src/contract/service-objects.js';

/** A balance change of an amount; where the balance stood does not matter to what is compared. */
export const change = (currency: string, amount: string): BalanceChange => ({
  currency,
  amount_before: '0',
  amount_change: amount,
  amount_after: amount,
  created_at: '2026-11-20 10:00:00',
});

/** A completed payout of 100 usd with a commission of 1.50, as the service lists it, with fields replaced. */
export const seenOrder = (changes: Partial<SeenOrder> = {}): SeenOrder => ({
  order_uuid: 'uuid-1',
  user_order_id: 'order-1',
  order_type: 'withdraw',
  status: 'completed',
  amount_from: '100',
  amount_to: '98.50',
  amount_from_fee: null,
  amount_to_fee: '1.50',
  currency_from: 'usd',
  currency_to: 'usd',
  deposit_address: null,
  deposit_memo: null,
  created_at: '2026-11-20 10:00:00',
  start_order_at: null,
  balance_changes: [change('usd', '-100')],
  ...changes,
});

/** What our workflow says about that payout. */
export const ourEnd = (changes: Partial<OurEnd> = {}): OurEnd => ({
  outcome: 'completed',
  orderUuid: 'uuid-1',
  amounts: { amount_from: '100.00', amount_to: '98.5', amount_from_fee: null, amount_to_fee: '1.5' },
  nothingLeft: true,
  ...changes,
});

/** Balance changes as a scan takes them; all of them count unless the scope says otherwise. */
export function foldOf(changes: readonly BalanceChange[], scope: Partial<FoldScope> = {}): BalanceFold {
  const fold = new BalanceFold({ from: '', ...scope });
  fold.take(changes);
  return fold;
}
