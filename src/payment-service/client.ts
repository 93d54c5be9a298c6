import type { DepositAddress } from '../contract/address/address.js';
import { statusText } from '../contract/failures.js';
import type { CreateRequests } from '../contract/order/request.js';
import type { OrderType } from '../contract/order/types.js';
import type { Order, OrderListItem } from '../contract/service-objects.js';
import { told } from './answers.js';
import { createRoute, type RouteOptions } from './connection.js';
import { errorFromResponse, RateLimitedError, RejectedError, UnexpectedStatusError } from './errors.js';
import { excerptOf } from './excerpt.js';
import { Limiter } from './limiter.js';
import { allPages, type List, PageSizes, type SmallPage } from './paging.js';
import {
  type AddressCreateRequest,
  type AddressListQuery,
  addressListSchema,
  checkRequest,
  DEFAULT_PAGE_SIZE,
  type OrderListQuery,
  type OrderStatusQuery,
  ofAllTimes,
  orderListSchema,
  orderStatusSchema,
} from './queries.js';
import { readObject, readOrderIfAny, readPage } from './responses.js';
import { balancesSchema, depositAddressSchema, orderListItemSchema, orderSchema, ratesSchema } from './schemas.js';
import { isHeaderValue, type Signer, signatureOf } from './signers.js';
import { type CallOptions, send } from './transport.js';
import { toWireBytes } from './wire.js';

const DEFAULT_TIMEOUT_MS = 20_000;
/** Largest answer with one object, in bytes. */
const MAX_OBJECT_BYTES = 1024 * 1024;
/** Largest answer with all rates, in bytes. */
const MAX_RATES_BYTES = 32 * 1024 * 1024;
/** Room for one item on a page, in bytes: an order with 100 cards and their transactions fits. */
const MAX_ITEM_BYTES = 32 * 1024;

const pageSize = ({ limit = DEFAULT_PAGE_SIZE }: { limit?: number }): number => limit;

/** Returns the size in bytes of the largest page that a query may be answered with. */
const maxPageBytes = (query: { limit?: number }): number =>
  Math.max(MAX_OBJECT_BYTES, pageSize(query) * MAX_ITEM_BYTES);

/** POSTs a request and returns the body of the 200 answer. A function makes the request once its turn has come. */
type Call = (
  path: string,
  request: object | (() => object),
  maxBytes: number | (() => number),
  options?: CallOptions,
) => Promise<Buffer>;

/** Where the service is and how its requests are signed. */
export interface PaymentServiceOptions extends RouteOptions {
  /** http or https, without credentials, query and fragment. A path prefix is kept. */
  baseUrl: string;
  /** How its requests are counted; nameless when not given. */
  account?: string;
  apiKey: string;
  apiSecret: string;
  sign: Signer;
  /** From connecting to the last byte of the answer; 20 s when not given. */
  requestTimeoutMs?: number;
  /** The turns of this account's requests; unlimited when not given. */
  limiter?: Limiter;
  /** Called once per list whose pages are smaller than requested. */
  onSmallPage?: (operation: string, small: SmallPage) => void;
}

/**
 * What the status operation answered. Without an order `said` is how the service shows none, such as `HTTP 404: order not
 * found`; on its own that proves nothing, as a wrong path or a malformed request is answered in the same way.
 */
export interface StatusAnswer {
  order?: Order;
  said: string;
}

/** The operations on one account. All throw subclasses of PaymentServiceError. */
export type PaymentService = ReturnType<typeof createPaymentService>;

/**
 * A client of one account at the payment service. It retries nothing and keeps only page sizes.
 * Throws a TypeError for options that can never work, without repeating them.
 */
export function createPaymentService(options: PaymentServiceOptions) {
  const call = createCall(options);
  const { onSmallPage = () => undefined } = options;
  const orderSizes = new PageSizes((small) => onSmallPage('order/list', small));
  const addressSizes = new PageSizes((small) => onSmallPage('deposit_address/list', small));
  /** One page of orders; their order is not documented. A function is asked for the query once the request's turn has come. */
  const listOrders = async (query: OrderListQuery | (() => OrderListQuery), callOptions?: CallOptions) => {
    let asked: OrderListQuery = {};
    const check = (each: OrderListQuery) => (asked = checkRequest(orderListSchema, ofAllTimes(each)));
    const request = typeof query === 'function' ? () => check(query()) : check(query);
    const body = await call('order/list', request, () => maxPageBytes(asked), callOptions);
    const page = readPage(orderListItemSchema, body, pageSize(asked));
    orderSizes.record(page.total);
    return page;
  };
  const listDepositAddresses = async (query: AddressListQuery, callOptions?: CallOptions) => {
    const request = checkRequest(addressListSchema, query);
    const body = await call('deposit_address/list', request, maxPageBytes(request), callOptions);
    const page = readPage(depositAddressSchema, body, pageSize(request));
    addressSizes.record(page.total);
    return page;
  };
  const orders = (callOptions?: CallOptions): List<OrderListItem, OrderListQuery> => ({
    page: (query) => listOrders(query, callOptions),
    idOf: ({ order_uuid: uuid }) => uuid,
    sizes: orderSizes,
  });
  const addresses = (callOptions?: CallOptions): List<DepositAddress, AddressListQuery> => ({
    page: (query) => listDepositAddresses(query, callOptions),
    idOf: ({ uuid }) => uuid,
    sizes: addressSizes,
  });
  return {
    listOrders,
    listDepositAddresses,
    /** The order list, for `allPages`. */
    orders,
    /** The deposit address list, for `allPages`. */
    addresses,
    /** Creates an order. Never called twice without a look-up in between. */
    async createOrder<T extends OrderType>(
      type: T,
      request: CreateRequests[T] & { callback_url?: string },
      callOptions?: CallOptions,
    ): Promise<Order> {
      return readObject(
        orderSchema,
        await call(`order/${type}`, request, MAX_OBJECT_BYTES, { turn: 'create', ...callOptions }),
      );
    },
    orderStatus: (query: OrderStatusQuery, callOptions?: CallOptions) => askStatus(call, query, callOptions),
    /** All pages, each order once. New orders may be missed: use closed date windows. */
    allOrders: (query: Omit<OrderListQuery, 'page'>, callOptions?: CallOptions) => allPages(query, orders(callOptions)),
    async createDepositAddress(request: AddressCreateRequest & { callback_url?: string }, callOptions?: CallOptions) {
      const body = await call('deposit_address/create', request, MAX_OBJECT_BYTES, { turn: 'create', ...callOptions });
      return readObject(depositAddressSchema, body);
    },
    /** All pages, each address once. */
    allDepositAddresses: (query: Omit<AddressListQuery, 'page'>, callOptions?: CallOptions) =>
      allPages(query, addresses(callOptions)),
    async rates(callOptions?: CallOptions) {
      return readObject(ratesSchema, await call('rates', {}, MAX_RATES_BYTES, callOptions));
    },
    async balances(callOptions?: CallOptions) {
      return readObject(balancesSchema, await call('balances', {}, MAX_OBJECT_BYTES, callOptions));
    },
  };
}

async function askStatus(call: Call, query: OrderStatusQuery, callOptions?: CallOptions): Promise<StatusAnswer> {
  const request = checkRequest(orderStatusSchema, query);
  try {
    const body = await call('order/status', request, MAX_OBJECT_BYTES, callOptions);
    const order = readOrderIfAny(body);
    return order ? { order, said: statusText(200) } : { said: statusText(200, excerptOf(body, request)) };
  } catch (error) {
    if (showsNoOrder(error)) return { said: statusText(error.status, error.excerpt) };
    throw error;
  }
}

/** What an unknown order gets is not documented. A wrong path answers 404 too: callers ask the list as well. */
const showsNoOrder = (error: unknown): error is RejectedError | UnexpectedStatusError =>
  error instanceof RejectedError || (error instanceof UnexpectedStatusError && error.status === 404);

function createCall(options: PaymentServiceOptions): Call {
  const { apiKey, apiSecret, sign, requestTimeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const base = checkedBaseUrl(options.baseUrl);
  if (!isHeaderValue(apiKey)) throw new TypeError('apiKey cannot be sent as a header');
  if (apiSecret === '') throw new TypeError('apiSecret is empty');
  const route = createRoute(base, options);
  const { limiter = new Limiter(), account = '' } = options;
  return async (path, asked, limit, callOptions = {}) => {
    const { turn = 'look-up', signal, timeoutMs = requestTimeoutMs, beforeSend, onDate } = callOptions;
    if (turn !== 'taken') await limiter.turn(turn, { signal });
    const request = typeof asked === 'function' ? asked() : asked;
    const maxBytes = typeof limit === 'function' ? limit() : limit;
    const body = toWireBytes(request);
    const signature = await signatureOf(sign, body, apiSecret);
    const headers = {
      'Content-Type': 'application/json',
      Accept: 'application/json; charset=utf-8',
      'Api-key': apiKey,
      Signature: signature,
    };
    const url = new URL(`${base}/v2/${path}`);
    const sending = { url, headers, body, maxBytes, timeoutMs, signal, beforeSend, route };
    const answer = await told({ account, operation: path }, () => send(sending));
    onDate?.(answer.headers.date);
    const excerpt = answer.status === 200 ? undefined : excerptOf(answer.body, request, [apiKey, apiSecret, signature]);
    const error = errorFromResponse(answer.status, answer.headers, Date.now(), excerpt);
    if (error instanceof RateLimitedError) limiter.slowDown(error.retryAfterMs);
    if (error) throw error;
    return answer.body;
  };
}

function checkedBaseUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw new TypeError('baseUrl is not an http(s) URL');
  if (url.username || url.password || url.search || url.hash) {
    throw new TypeError('baseUrl must not have credentials, query or fragment');
  }
  return url.href.replace(/\/+$/, '');
}
