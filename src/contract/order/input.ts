import type { Basis } from './basis.js';
import type { Order } from './order.js';
import type { CreateRequests, WalletDetails } from './request.js';
import type { SentTo } from './sent-to.js';
import type { OrderType } from './types.js';

/** What is wanted when an order ends partially or in error; omitted = the default column of the table in docs. */
export type CompensationPolicy = 'report' | 'finish' | 'revert' | 'ask';

/** Where a refund may go. Nothing is ever refunded to `wallet_from`. */
export interface RevertTarget {
  network: string;
  wallet: string;
  wallet_memo?: string | null;
  wallet_details?: WalletDetails | null;
}

/** What may be said about an order besides the order itself. */
export interface OrderOptions {
  account?: string;
  compensation?: CompensationPolicy;
  revertTo?: RevertTarget;
  /** 'never': after an uncertain create the order is parked instead of being sent a second time. */
  resend?: 'once' | 'never';
  batchId?: string;
  /** Only in follow-ups, started by their order: what it and those before showed; sent only while that holds. */
  followUpOf?: Basis[];
  /**
   * ISO time until which an earlier run of this order id may have sent; set by a start with `again`. Nothing is sent before
   * absence was read over the settle window since then. Not compared when the order is started once more.
   */
  sentUntil?: string;
  /**
   * The run was rebuilt from the service's order list: it sends nothing, ever, and only follows that order. Needs
   * `compensation: 'report'`; where a payout goes may be missing in `order`. `listed`: the order as the list showed it,
   * which later starts of the id are compared with. `sentTo`: where it was listed.
   */
  recovered?: { order_uuid: string; listed?: Order; sentTo?: SentTo };
  /**
   * What the order that a follow-up extends was sent to, and beside `sentUntil` what the earlier run sent to: this one is
   * sent nowhere else.
   */
  sentTo?: SentTo;
}

/** Input of the six order workflows. */
export interface OrderInput<T extends OrderType = OrderType> extends OrderOptions {
  order: CreateRequests[T];
}

/** Input of the `receivedDeposit` workflow: the order that came to be, and the reference of the address it must be on. */
export interface ReceivedDepositInput {
  account?: string;
  ref: string;
  order_uuid: string;
  compensation?: CompensationPolicy;
  revertTo?: RevertTarget;
}
