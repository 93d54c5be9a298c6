import type { Amount } from '../money.js';
import type { FINAL_AMOUNTS } from '../order/after-end.js';
import { FIGURE_FIELDS } from '../order/basis.js';
import type { BalanceChange, OrderListItem } from '../service-objects.js';

/** Fields of an order that the books show. No wallet and no client is among them. */
export const BOOK_FIELDS = [
  ...(['order_uuid', 'order_type', 'user_order_id', 'currency_from', 'currency_to'] as const),
  ...(['strict_withdrawal_amount', ...FIGURE_FIELDS, 'balance_changes'] as const),
  ...(['created_at', 'updated_at', 'finalized_at', 'unreadable'] as const),
] as const;

/** Who pays the commissions by the rates of now: `merchant`, `client`, or null. */
export interface FeePayers {
  fee_from_payer?: string | null;
  fee_to_payer?: string | null;
}

/** An order as a worker reads it for the books. */
export interface BookItem extends Pick<OrderListItem, (typeof BOOK_FIELDS)[number]>, FeePayers {}

/** Asks for orders created in a time (`YYYY-MM-DD hh:mm:ss`, both ends included), or by ids. */
export interface BookQuery {
  date_from?: string;
  date_to?: string;
  order_ids?: string[];
}

/** Orders of a query, some of them perhaps twice. `next`: the query's rest begins there. */
export interface BookPage {
  items: BookItem[];
  /** Reasons of items that cannot be read. */
  malformed: string[];
  next?: string;
}

/** Follow-up of an order. Its own line shows all of it. */
export interface BookFollowUp {
  order_id: string;
  /** This and the rest are absent while the service does not show it. */
  currency?: string;
  amount?: Amount;
  status?: string;
}

/**
 * An order in a book. `order`: it ended in the period. `open`: it is open and was created in it.
 * `part`: it has such a line in another period. `late`: it changed after its end.
 */
export interface OrderLine extends Omit<BookItem, 'user_order_id' | 'strict_withdrawal_amount' | 'unreadable'> {
  kind: 'order' | 'open' | 'part' | 'late';
  account: string;
  order_id: string;
  reference?: string;
  asked_amount: Amount;
  asked_currency: string;
  follow_ups: BookFollowUp[];
  /** Those of the period, as the service shows them. */
  balance_changes: BalanceChange[];
  /** ISO time at which our workflow ended. */
  ended?: string;
  /** Only `late`, in the period of `updated_at`: amounts of now less those of its end. */
  difference?: Partial<Record<(typeof FINAL_AMOUNTS)[number], Amount>>;
}

/** An order of ours that the service does not show, or an entry that cannot be read. */
export interface MissingLine {
  kind: 'missing';
  account: string;
  order_id?: string | undefined;
  order_uuid?: string | undefined;
  reference?: string | undefined;
  reason: string;
}

/** A currency: `opening` + `total` + `difference` = `closing`. */
export interface SumLine {
  kind: 'sum';
  account: string;
  currency: string;
  /** Number of balance changes. */
  changes: number;
  opening: Amount;
  /** Sum of the balance changes of all lines. */
  total: Amount;
  closing: Amount;
  /** Money that moved outside of the lines; "0" if all agrees. */
  difference: Amount;
  /** `closing` is the current balance; otherwise, the last change led to it. */
  current?: true;
}

/** Last line. A book without it is incomplete. */
export interface EndLine {
  kind: 'end';
  account: string;
  from: string;
  to: string;
  /** Numbers of lines. */
  orders: number;
  open: number;
  parts: number;
  late: number;
  missing: number;
  /** Currencies whose `difference` is not 0. */
  differences: number;
}

/** Line of a book, by its `kind`. */
export type BookLine = OrderLine | MissingLine | SumLine | EndLine;
