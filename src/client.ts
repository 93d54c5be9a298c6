import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { Batches } from './client/batches.js';
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

/** `again`: the id was used by a run that ended with no order at the service; start it again. */
export interface StartOptions extends CheckOptions {
  again?: boolean | undefined;
}

/** `afterEnd`: the look-ups after the end of the order's workflow, which ask an operator about a change. */
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
  /** Withdrawals by the file: plan, start, approve, pause, stop. */
  readonly batches: Batches;
  /** Batches that Temporal starts by the clock. */
  readonly schedules: Schedules;

  /**
   * Uses a connected client, which stays yours to close unless you pass `close`. If payloads are
   * encrypted, make it with `dataConverter`: otherwise its orders start in the clear.
   */
  constructor(client: Client, close: () => Promise<void> = async () => {}) {
    this.#client = client;
    this.#close = close;
    this.batches = new Batches(client);
    this.schedules = new Schedules(client);
  }

  /** The Temporal client in use, for what this library does not do. */
  get client(): Client {
    return this.#client;
  }

  /** What a client of yours needs where PAYLOAD_ENCRYPTION_KEYS is set, or may be one day. */
  static dataConverter(): DataConverter {
    return configuredDataConverter();
  }

  /** Connects where the `TEMPORAL_*` variables point to. Close it when done. */
  static async connect(): Promise<PaymentOrders> {
    const { client, close } = await connectTemporal();
    return new PaymentOrders(client, close);
  }

  /** Closes a connection made by `connect`; let your calls end first, because later ones reject. */
  close(): Promise<void> {
    return this.#close();
  }

  /**
   * Starts an order, or returns the same one; resolves as soon as Temporal has accepted it. Throws
   * InvalidInputError, ConflictError (other input under this id) or, with `again`, RefusedError.
   */
  async start<T extends OrderType>(type: T, input: OrderInput<T>, options: StartOptions = {}): Promise<OrderHandle> {
    const checked = checkOrderInput(type, input, options);
    return options.again ? startOrderAgain(this.#client, type, checked) : startOrder(this.#client, type, checked);
  }

  /**
   * Starts an order and resolves when it exists at the service. Throws as `start` does, FailedError
   * if no order comes to exist, and NotDecidedYetError after `timeoutMs`.
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

  /** The handle of an order started before; asks nothing yet, so an unknown id shows at its first method. */
  order(orderId: string, { account = DEFAULT_ACCOUNT, afterEnd }: HandleOptions = {}): OrderHandle {
    return this.#handle(account, orderId, orderWorkflowId(account, orderId), afterEnd);
  }

  /** The handle of an order that a receipt on a permanent address made, by its order_uuid; asks nothing yet. */
  received(orderUuid: string, { account = DEFAULT_ACCOUNT, afterEnd }: HandleOptions = {}): OrderHandle {
    return this.#handle(account, orderUuid, receivedWorkflowId(account, orderUuid), afterEnd);
  }

  #handle(account: string, id: string, workflowId: string, afterEnd?: boolean): OrderHandle {
    return new OrderHandle(this.#client, account, id, {
      workflowId: afterEnd ? afterEndWorkflowId(workflowId) : workflowId,
    });
  }

  /** Returns true when a worker has asked for this account's work in the last minutes; orders started without one wait. */
  isServed(account: string = DEFAULT_ACCOUNT): Promise<boolean> {
    return isAccountServed(this.#client, account);
  }

  /** Orders known to Temporal, newest first; needs no worker. Throws InvalidInputError. */
  list(filter: OrderFilter = {}): Promise<OrderListEntry[]> {
    return listOrders(this.#client, filter);
  }

  /** Returns one page of that list; its `cursor` asks for the next one. Throws InvalidInputError. */
  listPage(filter: OrderPageFilter = {}): Promise<OrderPage> {
    return listOrderPage(this.#client, filter);
  }

  /** Shows which orders would take the same decision for the same reason; decides nothing. */
  planDecisions(input: DecideAllInput): Promise<DecideAllPlan> {
    return planDecisions(this.#client, input);
  }

  /** Decides what `planDecisions` showed and nothing that has changed since. */
  decideAll(plan: DecideAllPlan, options?: SignOptions): Promise<DecideAllResult> {
    return decideAll(this.#client, plan, options);
  }

  /**
   * Returns rates, limits and fees; `isMalformed` entries and rows, in all reads, cannot be read.
   * All reads throw FailedError, and InvalidInputError if the answer is too large.
   */
  rates(account?: string, query?: RatesQuery): Promise<Rates> {
    return readService(this.#client, 'rates', account, query);
  }

  /** The merchant's balances by currency. */
  balances(account?: string): Promise<Balances> {
    return readService(this.#client, 'balances', account);
  }

  /** An order as the service has it now. Throws FailedError also where it knows none. */
  orderStatus(query: { order_id: string } | { order_uuid: string }, account?: string): Promise<Order> {
    return readService(this.#client, 'orderStatus', account, query);
  }

  /** One page of orders as the service has them. Throws InvalidInputError. */
  orderList(query: OrderListQuery = {}, account?: string): Promise<(OrderListItem | Malformed)[]> {
    return readService(this.#client, 'orderList', account, query);
  }

  /** One page of permanent deposit addresses. Throws InvalidInputError. */
  addressList(query: AddressListQuery = {}, account?: string): Promise<(DepositAddress | Malformed)[]> {
    return readService(this.#client, 'addressList', account, query);
  }

  /** Creates a permanent deposit address, or returns the one that has this `ref`. Throws InvalidInputError. */
  createAddress(request: DepositAddressInput): Promise<DepositAddressResult> {
    return createDepositAddress(this.#client, request);
  }

  /**
   * Compares orders, workflows and balance changes, or attaches to a run that does so.
   * Throws InvalidInputError, FailedError and NotDecidedYetError.
   */
  reconcile(input: ReconcileInput = {}, options?: ReconcileOptions): Promise<ReconcileResult> {
    return reconcile(this.#client, input, options);
  }
}
