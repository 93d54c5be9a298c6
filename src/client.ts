import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { Accounts } from './client/accounts.js';
import { Batches } from './client/batch/batches.js';
import { Schedules } from './client/batch/schedules.js';
import { type BookProgress, type BookReads, exportBook } from './client/books/export-book.js';
import { OurOrders } from './client/books/our-orders.js';
import { refuseUnknown, type WaitOptions } from './client/bounded.js';
import { checkOrder } from './client/check-order.js';
import { accepted, type CheckOptions, checkOrderInput } from './client/checked-input.js';
import {
  type DecideAllInput,
  type DecideAllPlan,
  type DecideAllResult,
  decideAll,
  planDecisions,
} from './client/decide-all.js';
import { type EndedFilter, type EndedOrders, endedOrders } from './client/ended.js';
import { NotDecidedYetError } from './client/errors.js';
import { listOrders, type OrderFilter, type OrderListEntry, type OrderPage } from './client/list-orders.js';
import { OrderHandle } from './client/order-handle.js';
import { allItems, MAX_PAGE } from './client/pages.js';
import { type ReconcileOptions, reconcile } from './client/reconcile.js';
import { waitWithin } from './client/remote-run.js';
import { isAccountServed, servedLately } from './client/served.js';
import { createDepositAddress, type RatesQuery, readService } from './client/service-calls.js';
import type { SignOptions } from './client/signing.js';
import { startOrder, startOrderAgain, unanswered } from './client/start-order.js';
import { callTemporal, requireTemporal } from './client/temporal-calls.js';
import type { DepositAddress, DepositAddressInput, DepositAddressResult } from './contract/address/address.js';
import type { BookLine } from './contract/books/book.js';
import { type BookInput, checkedPeriod } from './contract/books/period.js';
import { afterEndWorkflowId, DEFAULT_ACCOUNT, orderWorkflowId, receivedWorkflowId } from './contract/names.js';
import type { OrderInput } from './contract/order/input-and-result.js';
import type { OrderCheck } from './contract/order/messages.js';
import type { OrderType } from './contract/order/types.js';
import type { ReconcileInput, ReconcileResult } from './contract/reconcile/reconcile.js';
import type {
  AddressListQuery,
  Balances,
  Malformed,
  Order,
  OrderListItem,
  OrderListQuery,
  Rates,
} from './contract/service-objects.js';
import { configuredDataConverter, connectTemporal } from './temporal.js';

/** `again`: starts the id again after a run that ended without an order. Limit: 30 s. */
export interface StartOptions extends CheckOptions, WaitOptions {
  again?: boolean | undefined;
}

/** Limit of `create`, so that an account without workers does not hang its caller. */
const CREATE_TIMEOUT_MS = 60_000;

/** `afterEnd`: selects the look-ups after the end, which ask an operator about a change. */
export interface HandleOptions {
  account?: string | undefined;
  afterEnd?: boolean | undefined;
}

/** Options of an export. `timeoutMs`: limit of each read. */
export interface ExportOptions extends WaitOptions {
  /** Called while the book is read. */
  onProgress?: (progress: BookProgress) => void;
}

/**
 * Starts, follows and decides payment orders through Temporal alone. If a start throws
 * TemporalUnreachableError, repeat the same call: it is safe.
 */
export class PaymentOrders {
  readonly #client: Client;
  readonly #close: () => Promise<void>;
  /** Bulk withdrawals: plan, start, approve, pause, stop. */
  readonly batches: Batches;
  /** Batches that Temporal starts on a schedule. */
  readonly schedules: Schedules;
  /** Stops and resumes of accounts. */
  readonly accounts: Accounts;

  /**
   * Uses a connected client. You close it, unless you pass `close`. If payloads are encrypted,
   * create it with `dataConverter`, or its orders start unencrypted.
   */
  constructor(client: Client, close: () => Promise<void> = async () => {}) {
    this.#client = client;
    this.#close = close;
    this.batches = new Batches(client);
    this.schedules = new Schedules(client);
    this.accounts = new Accounts(client);
  }

  /** Temporal client in use, for everything that this library does not do. */
  get client(): Client {
    return this.#client;
  }

  /** Returns the data converter for your own client, if payloads are or may be encrypted. */
  static dataConverter(): DataConverter {
    return configuredDataConverter();
  }

  /** Connects by the `TEMPORAL_*` variables. Close the connection when done. */
  static async connect(): Promise<PaymentOrders> {
    const { client, close } = await connectTemporal();
    return new PaymentOrders(client, close);
  }

  /** Closes a connection made by `connect`. Finish your calls first, because later ones reject. */
  close(): Promise<void> {
    return this.#close();
  }

  /**
   * Starts an order, or returns the same one (another input: ConflictError), once Temporal has it.
   * After an abort or a time-out it may have started: call again with the same id, never another.
   */
  async start<T extends OrderType>(type: T, input: OrderInput<T>, options: StartOptions = {}): Promise<OrderHandle> {
    const { again, formatChecks, ...wait } = options;
    const checked = checkOrderInput(type, input, { formatChecks });
    const start = again ? startOrderAgain : startOrder;
    const served = servedLately(this.#client, checked.account ?? DEFAULT_ACCOUNT);
    const about = { subject: 'order', id: checked.order.order_id, ...wait } as const;
    const call = () => start(this.#client, type, checked);
    const handle = await waitWithin(this.#client, about, call, async () => {
      await requireTemporal(this.#client, unanswered(checked));
      throw new NotDecidedYetError('order', about.id, { reason: unanswered(checked) });
    });
    return Object.assign(handle, { served: await served });
  }

  /**
   * Checks an order as its start would, and starts nothing. Bad input is a result; without an
   * answer of a worker, throws NoWorkerError and FailedError.
   */
  check<T extends OrderType>(type: T, input: OrderInput<T>, options: StartOptions = {}): Promise<OrderCheck> {
    return checkOrder(this.#client, type, input, options);
  }

  /**
   * Starts an order and waits until it exists at the service. Throws as `start` does, FailedError
   * if no order will exist, and NotDecidedYetError after `timeoutMs` (60 s).
   */
  async create<T extends OrderType>(
    type: T,
    input: OrderInput<T>,
    { timeoutMs = CREATE_TIMEOUT_MS, signal, ...options }: StartOptions = {},
  ): Promise<{ handle: OrderHandle; order: Order }> {
    const endMs = performance.now() + timeoutMs;
    const handle = await this.start(type, input, { ...options, timeoutMs, signal });
    const leftMs = Math.max(1, endMs - performance.now());
    return { handle, order: await handle.created({ timeoutMs: leftMs, signal }) };
  }

  /** Returns the handle of an order. Sends no request: an unknown id shows at the first call. */
  order(orderId: string, { account = DEFAULT_ACCOUNT, afterEnd, ...others }: HandleOptions = {}): OrderHandle {
    refuseUnknown(others);
    return this.#handle(account, orderId, orderWorkflowId(account, orderId), afterEnd);
  }

  /** Returns the handle of a received order by its order_uuid. Sends no request. */
  received(orderUuid: string, { account = DEFAULT_ACCOUNT, afterEnd, ...others }: HandleOptions = {}): OrderHandle {
    refuseUnknown(others);
    return this.#handle(account, orderUuid, receivedWorkflowId(account, orderUuid), afterEnd);
  }

  #handle(account: string, id: string, workflowId: string, afterEnd?: boolean): OrderHandle {
    return new OrderHandle(this.#client, account, id, {
      workflowId: afterEnd ? afterEndWorkflowId(workflowId) : workflowId,
    });
  }

  /** Returns true if a worker polled for this account lately. Without one, orders wait. */
  isServed(account: string = DEFAULT_ACCOUNT, wait?: WaitOptions): Promise<boolean> {
    return isAccountServed(this.#client, account, wait);
  }

  /**
   * Returns a page of the orders known to Temporal, newest first; its `cursor` selects the next.
   * Throws InvalidInputError.
   */
  list(filter: OrderFilter = {}, wait?: WaitOptions): Promise<OrderPage> {
    return callTemporal(this.#client, () => listOrders(this.#client, filter), wait);
  }

  /** Yields that list to its end. `limit` and `timeoutMs` are those of one page. */
  all(filter: OrderFilter = {}, wait?: WaitOptions): AsyncGenerator<OrderListEntry, void> {
    return allItems(async (cursor) => {
      const { orders: items, ...next } = await this.list({ limit: MAX_PAGE, ...filter, cursor }, wait);
      return { items, ...next };
    }, filter.cursor);
  }

  /**
   * Returns the orders that ended after a cursor, each at least once, for callers that cannot
   * receive events. Throws InvalidInputError.
   */
  ended({ timeoutMs, signal, ...filter }: EndedFilter = {}): Promise<EndedOrders> {
    return callTemporal(this.#client, () => endedOrders(this.#client, filter), { timeoutMs, signal });
  }

  /** Returns which orders would take the same decision for the same reason. Decides nothing. */
  planDecisions(input: DecideAllInput, wait?: WaitOptions): Promise<DecideAllPlan> {
    return planDecisions(this.#client, input, wait);
  }

  /** Applies such a plan, except to changed orders. Orders without an answer in time are `open`. */
  decideAll(plan: DecideAllPlan, options?: SignOptions & WaitOptions): Promise<DecideAllResult> {
    return decideAll(this.#client, plan, options);
  }

  /**
   * Returns rates, limits and fees. In all reads, `isMalformed` marks unreadable entries. Reads
   * throw FailedError, and InvalidInputError if the answer is too large.
   */
  rates(account?: string, query?: RatesQuery, wait?: WaitOptions): Promise<Rates> {
    return readService(this.#client, 'rates', account, query, wait);
  }

  /** Returns the merchant's balances by currency. */
  balances(account?: string, wait?: WaitOptions): Promise<Balances> {
    return readService(this.#client, 'balances', account, undefined, wait);
  }

  /** Returns an order as the service shows it now. Throws FailedError also if there is none. */
  orderStatus(
    query: { order_id: string } | { order_uuid: string },
    account?: string,
    wait?: WaitOptions,
  ): Promise<Order> {
    return readService(this.#client, 'orderStatus', account, query, wait);
  }

  /** Returns one page of the service's orders. Throws InvalidInputError. */
  orderList(query: OrderListQuery = {}, account?: string, wait?: WaitOptions): Promise<(OrderListItem | Malformed)[]> {
    return readService(this.#client, 'orderList', account, query, wait);
  }

  /** Returns one page of permanent deposit addresses. Throws InvalidInputError. */
  addressList(
    query: AddressListQuery = {},
    account?: string,
    wait?: WaitOptions,
  ): Promise<(DepositAddress | Malformed)[]> {
    return readService(this.#client, 'addressList', account, query, wait);
  }

  /**
   * Yields the book of a day, a month, or a time: a line for each order that ended in it, then what
   * is missing, the sums by currency, and the end. Throws InvalidInputError, FailedError.
   */
  export(input: BookInput, { onProgress, ...wait }: ExportOptions = {}): AsyncGenerator<BookLine, void> {
    const period = accepted(checkedPeriod(input, Date.now()));
    const reads: BookReads = {
      ours: () => OurOrders.read(this.#client, period, wait),
      page: (query) => readService(this.#client, 'book', period.account, query, wait),
      balances: () => this.balances(period.account, wait),
    };
    return exportBook(reads, period, onProgress);
  }

  /** Creates a deposit address, or returns the one with this `ref`. Throws InvalidInputError. */
  createAddress(request: DepositAddressInput, wait?: WaitOptions): Promise<DepositAddressResult> {
    return createDepositAddress(this.#client, request, wait);
  }

  /**
   * Compares orders, workflows and balance changes, or attaches to a run that does. Throws
   * InvalidInputError, FailedError and NotDecidedYetError.
   */
  reconcile(input: ReconcileInput = {}, options?: ReconcileOptions): Promise<ReconcileResult> {
    return reconcile(this.#client, input, options);
  }
}
