import type { OurEnd } from '../../../src/activities/reconcile/compare.js';
import { addChanges, type BookScope } from '../../../src/contract/reconcile/balance-book.js';
import type { BalanceBook } from '../../../src/contract/reconcile/days.js';
import type { Balance, BalanceChange, OrderListItem } from '../../../src/contract/service-objects.js';

/** A balance change of an amount; where the balance stood does not matter to what is compared. */
export const change = (currency: string, amount: string): BalanceChange => ({
  currency,
  amount_before: '0',
  amount_change: amount,
  amount_after: amount,
  created_at: '2026-11-20 10:00:00',
});

/** A usd change between two balances; `at`: as the service writes it. */
export const usdChange = (at: string, before: string, after: string): BalanceChange => ({
  currency: 'usd',
  amount_before: before,
  amount_change: `${Number(after) - Number(before)}`,
  amount_after: after,
  created_at: at,
});

/** A usd balance. */
export const usdBalance = (amount: string, overdraft = '0'): Balance =>
  ({ currency: 'usd', wallet_uuid: 'w', amount, overdraft }) as Balance;

/** What is read besides balances. */
export const TASK = { account: 'default', fromMs: 0, toMs: 1, recover: false, openTooLongMs: 1, untilNow: true };

/** A completed payout of 100 usd with a commission of 1.50, as the service lists it, with fields replaced. */
export const seenOrder = (changes: Partial<OrderListItem> = {}): OrderListItem =>
  ({
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
  }) as OrderListItem;

/** What our workflow says about that payout. */
export const ourEnd = (changes: Partial<OurEnd> = {}): OurEnd => ({
  outcome: 'completed',
  orderUuid: 'uuid-1',
  amounts: { amount_from: '100.00', amount_to: '98.5', amount_from_fee: null, amount_to_fee: '1.5' },
  nothingLeft: true,
  ...changes,
});

/** The books of balance changes, each of an order of its own; all count unless the scope says otherwise. */
export function booksOf(
  changes: readonly BalanceChange[],
  scope: Partial<BookScope> = {},
): Record<string, BalanceBook> {
  const books: Record<string, BalanceBook> = {};
  for (const one of changes) addChanges(books, [one], { from: '', ...scope });
  return books;
}
