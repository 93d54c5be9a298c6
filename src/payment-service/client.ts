import type { z } from 'zod';
import { statusText } from '../contract/failures.js';
import { isFormOfId } from '../contract/names.js';
import type { CreateRequests } from '../contract/order/request.js';
import type { OrderType } from '../contract/order/types.js';
import type { Order, OrderListItem } from '../contract/service-objects.js';
import { told } from './answers.js';
import { createRoute, type RouteOptions } from './connection.js';
import {
  errorFromResponse,
  MalformedResponseError,
  RateLimitedError,
  RejectedError,
  UnexpectedStatusError,
} from './errors.js';
import { excerptOf } from './excerpt.js';
import { Limiter, type RequestKind } from './limiter.js';
import { type List, PageSizes, type SmallPage } from './paging.js';
import {
  type AddressCreateRequest,
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
import { type CallOptions, send, type Transport } from './transport.js';
import { toWireBytes } from './wire.js';

const DEFAULT_TIMEOUT_MS = 20_000;
/** Maximum size of an answer with one object, in bytes. */
const MAX_OBJECT_BYTES = 1024 * 1024;
/** Maximum size of an answer with all rates, in bytes. */
const MAX_RATES_BYTES = 32 * 1024 * 1024;
/** Bytes per item of a page. An order with 100 cards and their transactions fits. */
const MAX_ITEM_BYTES = 32 * 1024;

/** POSTs a request and returns the body of a 200 answer. */
type Call = (path: string, request: object, maxBytes: number, options?: CallOptions) => Promise<Buffer>;

/** Address of the service, and how to sign its requests. */
export interface PaymentServiceOptions extends RouteOptions {
  /** http or https, without credentials, query and fragment. A path prefix is kept. */
  baseUrl: string;
  /** Label of the account in metrics; none if absent. */
  account?: string;
  apiKey: string;
  apiSecret: string;
  sign: Signer;
  /** Limit from connecting to the last byte of the answer. Default: 20 s. */
  requestTimeoutMs?: number;
  /** Schedules this account's requests. Unlimited if absent. */
  limiter?: Limiter;
  /** Carries the requests. Default: HTTP. */
  transport?: Transport;
  /** Called once per list with smaller pages than requested. */
  onSmallPage?: (operation: string, small: SmallPage) => void;
}

/**
 * Answer of the status operation. `said`: the answer for a missing order, such as `HTTP 404: order
 * not found`, which alone proves nothing.
 */
export interface StatusAnswer {
  order?: Order;
  said: string;
}

/** Operations on one account. All throw subclasses of PaymentServiceError. */
export type PaymentService = ReturnType<typeof createPaymentService>;

/** Creates a client of one account without retries. Throws a TypeError for bad options. */
export function createPaymentService(options: PaymentServiceOptions) {
  const { limiter = new Limiter(), onSmallPage = () => undefined } = options;
  const call = createCall(options, limiter);
  const listAt = <T, Q extends { limit?: number; page?: number }>(
    path: string,
    querySchema: z.ZodType<Q>,
    itemSchema: z.ZodType<T>,
    idOf: (item: T) => string,
  ) => {
    const sizes = new PageSizes((small) => onSmallPage(path, small));
    return (callOptions?: CallOptions): List<T, Q> => ({
      async page(query) {
        const request = checkRequest(querySchema, query);
        const { limit = DEFAULT_PAGE_SIZE } = request;
        const body = await call(path, request, Math.max(MAX_OBJECT_BYTES, limit * MAX_ITEM_BYTES), callOptions);
        const page = readPage(itemSchema, body, limit);
        sizes.record(page.total);
        return page;
      },
      idOf,
      sizes,
    });
  };
  return {
    /** Waits for the turn of a request that is then made with `turn: 'taken'`. */
    turn: (kind: RequestKind) => limiter.turn(kind),
    /** Order list. The order of its entries is undocumented; `allPages` reads all of it. */
    orders: listAt<OrderListItem, OrderListQuery>(
      'order/list',
      orderListSchema.transform(ofAllTimes),
      orderListItemSchema,
      ({ order_uuid: uuid }) => uuid,
    ),
    /** List of permanent deposit addresses, with the same rules. */
    addresses: listAt('deposit_address/list', addressListSchema, depositAddressSchema, ({ uuid }) => uuid),
    /** Creates an order. Callers must look up before they call it again. */
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
    /** Reads one order. Throws MalformedResponseError if the answer shows another order. */
    orderStatus: (query: OrderStatusQuery, callOptions?: CallOptions) => askStatus(call, query, callOptions),
    async createDepositAddress(request: AddressCreateRequest & { callback_url?: string }, callOptions?: CallOptions) {
      const body = await call('deposit_address/create', request, MAX_OBJECT_BYTES, { turn: 'create', ...callOptions });
      return readObject(depositAddressSchema, body);
    },
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
    if (!order) return { said: statusText(200, excerptOf(body, request)) };
    if (isAskedFor(order, query)) return { order, said: statusText(200) };
    throw new MalformedResponseError([{ field: 'data', reason: 'another order than asked for' }]);
  } catch (error) {
    if (showsNoOrder(error)) return { said: statusText(error.status, error.excerpt) };
    throw error;
  }
}

/** The service may store an order id in another form. */
const isAskedFor = (order: Order, query: OrderStatusQuery): boolean =>
  query.order_uuid === undefined
    ? isFormOfId(order.user_order_id, query.order_id)
    : order.order_uuid === query.order_uuid;

/**
 * The answer for an unknown order is undocumented. A wrong path is a 404, too, so callers also read
 * the list.
 */
const showsNoOrder = (error: unknown): error is RejectedError | UnexpectedStatusError =>
  error instanceof RejectedError || (error instanceof UnexpectedStatusError && error.status === 404);

function createCall(options: PaymentServiceOptions, limiter: Limiter): Call {
  const { account = '', apiKey, apiSecret, sign, requestTimeoutMs = DEFAULT_TIMEOUT_MS, transport = send } = options;
  const base = checkedBaseUrl(options.baseUrl);
  if (!isHeaderValue(apiKey)) throw new TypeError('apiKey cannot be sent as a header');
  if (apiSecret === '') throw new TypeError('apiSecret is empty');
  const route = createRoute(base, options);
  return async (path, request, maxBytes, callOptions = {}) => {
    const { turn = 'look-up', signal, timeoutMs = requestTimeoutMs, beforeSend, onDate } = callOptions;
    if (turn !== 'taken') await limiter.turn(turn, { signal });
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
    const answer = await told({ account, operation: path }, () => transport(sending));
    onDate?.(answer.headers.date);
    const excerpt = answer.status === 200 ? undefined : excerptOf(answer.body, request, [apiKey, apiSecret, signature]);
    const error = errorFromResponse(answer.status, answer.headers, excerpt);
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
