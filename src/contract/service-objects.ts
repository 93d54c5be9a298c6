import type { Balance, BalanceChange, Malformed, OrderShape } from '../payment-service/schemas.js';
import type { ClientInfo } from './order/request.js';

/* Every list of the service is asked with its own field names. */
export type { AddressListQuery, OrderListQuery } from '../payment-service/queries.js';
export type { Balance, BalanceChange, Malformed, RateEntry, Rates } from '../payment-service/schemas.js';

/** An order of the service: decimal strings, dates as the service's clock shows them; `status` and `order_type` may hold unknown values. */
export interface Order extends Omit<OrderShape, 'client_info'> {
  client_info?: ClientInfo | null;
  /** Fields that the service answered and that could not be read; they are empty here. */
  unreadable?: string[];
}

export interface OrderListItem extends Order {
  balance_changes: BalanceChange[];
  /** Amounts that are an empty object or list here: the status operation may have them. */
  empty?: string[];
}

/** Final statuses of the service; every other value, known or not, means that the order is still under way. */
export const FINAL_STATUSES = ['completed', 'completed_partially', 'canceled', 'error'] as const;
/** Statuses that the list of orders shows while an order is under way. */
export const OPEN_STATUSES = ['open', 'uncertain', 'parked', 'short'] as const;
/** Its other values. `none`: no order exists; `unresolved`: a person closed it in doubt. */
export const SHOWN_STATUSES = [...OPEN_STATUSES, ...FINAL_STATUSES, 'none', 'unresolved'] as const;

/** Status of an order that does not change any more. */
export type FinalStatus = (typeof FINAL_STATUSES)[number];

export const isFinal = (status: string): status is FinalStatus =>
  (FINAL_STATUSES as readonly string[]).includes(status);

/** Returns true for the documented statuses; an unknown one is tolerated as "not final" and raises attention. */
export const isKnownStatus = (status: string): boolean =>
  status === 'new' || status === 'processing' || isFinal(status);

/** Returns whether an entry of a list could not be read. */
export const isMalformed = (entry: object): entry is Malformed => 'malformed' in entry;
/** Balances of an account by currency. An unreadable one is `Malformed`. */
export type Balances = Record<string, Balance | Malformed>;

/** Returns the balance of a currency; undefined if there is none or it is unreadable. */
export function balanceIn(balances: Balances, currency: string): Balance | undefined {
  const entry = Object.hasOwn(balances, currency) ? balances[currency] : undefined;
  return entry && !isMalformed(entry) ? entry : undefined;
}

/** Signed reads that callers ask a worker for. `check`: a dry run; `book`: orders for the books. */
export const READS = ['rates', 'balances', 'orderStatus', 'orderList', 'addressList', 'check', 'book'] as const;

/** Input of `serviceRead`; `query` is the request body. The result is `data`, with `{malformed}` for unreadable rows. */
export interface ServiceReadInput {
  account?: string;
  read: (typeof READS)[number];
  query?: Record<string, unknown>;
}
