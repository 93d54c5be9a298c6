import type { DepositAddress } from '../contract/address/address.js';
import type { Order, OrderListItem } from '../contract/order/order.js';
import type { CreateRequests } from '../contract/order/request.js';
import type { OrderType } from '../contract/order/types.js';
import type { Balances, Rates } from '../contract/service-objects.js';
import type { AddressCreateRequest, AddressListQuery, OrderListQuery, OrderStatusQuery } from './requests.js';
import type { Signer } from './signers.js';

/** Where the service is and how its requests are signed. */
export interface PaymentServiceOptions {
  /** http or https, without credentials, query and fragment. A path prefix is kept. */
  baseUrl: string;
  apiKey: string;
  apiSecret: string;
  sign: Signer;
  /** From connecting to the last byte of the answer; 20 s when not given. */
  requestTimeoutMs?: number;
  /** Evenly spaced, without bursts; unlimited when not given. */
  requestsPerSecond?: number;
  /** PEM text of the authorities to trust instead of the built-in ones. */
  caCertificates?: string;
}

/** Options of a single call. */
export interface CallOptions {
  signal?: AbortSignal;
  /** Replaces `requestTimeoutMs`. The wait for the rate limit is not part of it. */
  timeoutMs?: number;
  /** Runs when everything is ready, right before the request is written. When it throws, nothing is sent and its error comes out. */
  beforeSend?: () => void | Promise<void>;
}

/**
 * What the status operation answered. Without an order `said` is how the service shows none, such as `HTTP 404: order not
 * found`; on its own that proves nothing, as a wrong path or a malformed request is answered in the same way.
 */
export interface StatusAnswer {
  order?: Order;
  said: string;
}

/** One page of a list. */
export interface Page<T> {
  items: T[];
  /** Items that could not be read, by their index on the page; `reason` names fields, never values. */
  malformed: { index: number; reason: string }[];
  /** Items on the page as received. */
  total: number;
}

/** The twelve operations. All throw subclasses of PaymentServiceError. */
export interface PaymentService {
  /** Creates an order. Never called twice without a look-up in between. */
  createOrder<T extends OrderType>(
    type: T,
    request: CreateRequests[T] & { callback_url?: string },
    options?: CallOptions,
  ): Promise<Order>;
  orderStatus(query: OrderStatusQuery, options?: CallOptions): Promise<StatusAnswer>;
  /** One page of orders; their order is not documented. */
  listOrders(query: OrderListQuery, options?: CallOptions): Promise<Page<OrderListItem>>;
  /** All pages from `query.page` on, each order once. Orders created meanwhile may be missed: use closed date windows. */
  allOrders(query: OrderListQuery, options?: CallOptions): AsyncGenerator<Page<OrderListItem>>;
  createDepositAddress(
    request: AddressCreateRequest & { callback_url?: string },
    options?: CallOptions,
  ): Promise<DepositAddress>;
  listDepositAddresses(query: AddressListQuery, options?: CallOptions): Promise<Page<DepositAddress>>;
  /** All pages from `query.page` on, each address once. */
  allDepositAddresses(query: AddressListQuery, options?: CallOptions): AsyncGenerator<Page<DepositAddress>>;
  rates(options?: CallOptions): Promise<Rates>;
  balances(options?: CallOptions): Promise<Balances>;
}
