import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { Batches } from './client/batches.js';
import { checkOrder } from './client/check-order.js';
import { type CheckOptions, checkOrderInput } from './client/checked-input.js';
import {
  type DecideAllInput,
  type DecideAllPlan,
  type DecideAllResult,
  decideAll,
  planDecisions,
} from './client/decide-all.js';
import {
  listOrderPage,
  listOrders,
  type OrderFilter,
  type OrderListEntry,
  type OrderPage,
  type OrderPageFilter,
} from './client/list-orders.js';
import { OrderHandle } from './client/order-handle.js';
import { type ReconcileOptions, reconcile } from './client/reconcile.js';
import { checkTimeout, type WaitOptions } from './client/remote-run.js';
import { Schedules } from './client/schedules.js';
import { createDepositAddress, isAccountServed, type RatesQuery, readService } from './client/service-calls.js';
import type { SignOptions } from './client/signing.js';
import { startOrder, startOrderAgain } from './client/start-order.js';
import type { DepositAddress, DepositAddressInput, DepositAddressResult } from './contract/address/address.js';
import { afterEndWorkflowId, DEFAULT_ACCOUNT, orderWorkflowId, receivedWorkflowId } from './contract/names.js';
import type { OrderCheck } from './contract/order/check.js';
import type { OrderInput } from './contract/order/input-and-result.js';
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

/** `again`: starts the id again after a run that ended without an order. */
export interface StartOptions extends CheckOptions {
  again?: boolean | undefined;
}

/** `afterEnd`: selects the look-ups after the end, which ask an operator about a change. */
export interface HandleOptions {
  account?: string;
  afterEnd?: boolean;
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

  /**
   * Uses a connected client. You close it, unless you pass `close`. If payloads are encrypted,
   * create it with `dataConverter`, or its orders start unencrypted.
   */
  constructor(client: Client, close: () => Promise<void> = async () => {}) {
    this.#client = client;
    this.#close = close;
    this.batches = new Batches(client);
    this.schedules = new Schedules(client);
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
   * Starts an order, or returns the same one, as soon as Temporal has accepted it. Throws
   * InvalidInputError, ConflictError (another input under this id) and, with `again`, RefusedError.
   */
  async start<T extends OrderType>(type: T, input: OrderInput<T>, options: StartOptions = {}): Promise<OrderHandle> {
    const checked = checkOrderInput(type, input, options);
    return options.again ? startOrderAgain(this.#client, type, checked) : startOrder(this.#client, type, checked);
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
   * if no order will exist, and NotDecidedYetError after `timeoutMs`.
   */
  async create<T extends OrderType>(
    type: T,
    input: OrderInput<T>,
    { again, formatChecks, ...wait }: StartOptions & WaitOptions = {},
  ): Promise<{ handle: OrderHandle; order: Order }> {
    checkTimeout(wait);
    const handle = await this.start(type, input, { again, formatChecks });
    return { handle, order: await handle.created(wait) };
  }

  /** Returns the handle of an order. Sends no request: an unknown id shows at the first call. */
  order(orderId: string, { account = DEFAULT_ACCOUNT, afterEnd }: HandleOptions = {}): OrderHandle {
    return this.#handle(account, orderId, orderWorkflowId(account, orderId), afterEnd);
  }

  /** Returns the handle of a received order by its order_uuid. Sends no request. */
  received(orderUuid: string, { account = DEFAULT_ACCOUNT, afterEnd }: HandleOptions = {}): OrderHandle {
    return this.#handle(account, orderUuid, receivedWorkflowId(account, orderUuid), afterEnd);
  }

  #handle(account: string, id: string, workflowId: string, afterEnd?: boolean): OrderHandle {
    return new OrderHandle(this.#client, account, id, {
      workflowId: afterEnd ? afterEndWorkflowId(workflowId) : workflowId,
    });
  }

  /** Returns true if a worker polled for this account lately. Without one, orders wait. */
  isServed(account: string = DEFAULT_ACCOUNT): Promise<boolean> {
    return isAccountServed(this.#client, account);
  }

  /** Returns orders known to Temporal, newest first. Throws InvalidInputError. */
  list(filter: OrderFilter = {}): Promise<OrderListEntry[]> {
    return listOrders(this.#client, filter);
  }

  /** Returns a page of that list; its `cursor` selects the next. Throws InvalidInputError. */
  listPage(filter: OrderPageFilter = {}): Promise<OrderPage> {
    return listOrderPage(this.#client, filter);
  }

  /** Returns which orders would take the same decision for the same reason. Decides nothing. */
  planDecisions(input: DecideAllInput): Promise<DecideAllPlan> {
    return planDecisions(this.#client, input);
  }

  /** Applies what `planDecisions` returned, except to orders that have changed since. */
  decideAll(plan: DecideAllPlan, options?: SignOptions): Promise<DecideAllResult> {
    return decideAll(this.#client, plan, options);
  }

  /**
   * Returns rates, limits and fees. In all reads, `isMalformed` marks unreadable entries. Reads
   * throw FailedError, and InvalidInputError if the answer is too large.
   */
  rates(account?: string, query?: RatesQuery): Promise<Rates> {
    return readService(this.#client, 'rates', account, query);
  }

  /** Returns the merchant's balances by currency. */
  balances(account?: string): Promise<Balances> {
    return readService(this.#client, 'balances', account);
  }

  /** Returns an order as the service shows it now. Throws FailedError also if there is none. */
  orderStatus(query: { order_id: string } | { order_uuid: string }, account?: string): Promise<Order> {
    return readService(this.#client, 'orderStatus', account, query);
  }

  /** Returns one page of the service's orders. Throws InvalidInputError. */
  orderList(query: OrderListQuery = {}, account?: string): Promise<(OrderListItem | Malformed)[]> {
    return readService(this.#client, 'orderList', account, query);
  }

  /** Returns one page of permanent deposit addresses. Throws InvalidInputError. */
  addressList(query: AddressListQuery = {}, account?: string): Promise<(DepositAddress | Malformed)[]> {
    return readService(this.#client, 'addressList', account, query);
  }

  /** Creates a deposit address, or returns the one with this `ref`. Throws InvalidInputError. */
  createAddress(request: DepositAddressInput): Promise<DepositAddressResult> {
    return createDepositAddress(this.#client, request);
  }

  /**
   * Compares orders, workflows and balance changes, or attaches to a run that does. Throws
   * InvalidInputError, FailedError and NotDecidedYetError.
   */
  reconcile(input: ReconcileInput = {}, options?: ReconcileOptions): Promise<ReconcileResult> {
    return reconcile(this.#client, input, options);
  }
}
