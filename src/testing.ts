import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import type { BatchInput } from './contract/batch/batch.js';
import { eventHeaders, eventKeyOf } from './contract/event-signature.js';
import type { EventData, EventKind } from './contract/events.js';
import { SERVICE_REJECTED } from './contract/failures.js';
import { BULK_WITHDRAW_WORKFLOW, DEFAULT_ACCOUNT, orderWorkflowId, SERVICE_READ_WORKFLOW } from './contract/names.js';
import type { OrderInput, RunInput } from './contract/order/input-and-result.js';
import type { OrderFindings } from './contract/order/messages.js';
import { type OrderType, orderTypeOf } from './contract/order/types.js';
import type { Balances, Rates, ServiceReadInput } from './contract/service-objects.js';
import { type OrderHandle, PaymentOrders, type StartOptions } from './index.js';
import { TestBatches } from './testing/batches.js';
import { findingsOf, type Terms, waitsForFunds } from './testing/before-send.js';
import { checkEnding, requireOneOf, type TestEnding } from './testing/endings.js';
import { named, notInDouble } from './testing/lacks.js';
import { DEFAULT_RATES } from './testing/rates.js';
import { accountOf, type Run } from './testing/run.js';
import { FAULTS, type Fault } from './testing/runs.js';

export type { TestEnding } from './testing/endings.js';
export type { Fault } from './testing/runs.js';

/** An order that was started, with the input that Temporal accepted. */
export interface SentOrder {
  type: OrderType;
  input: RunInput;
}

/** Settings of the double. What is left out stays. */
export interface TestSettings {
  /** End of orders without one of their own. Default: `{ outcome: 'completed' }`. */
  ending?: TestEnding;
  /**
   * `noWorker`: orders wait until it is gone. `unreachable`: Temporal does not answer.
   * `answersLost`: starts are accepted, and their callers get TemporalUnreachableError.
   */
  fault?: Fault | undefined;
  /** Accounts with workers, by default `default`. Orders of others wait. */
  accounts?: readonly string[];
  /**
   * Pairs with limits, decimal places, rates and fees, as workers check them. Default: those of the
   * sandbox, without fees.
   */
  rates?: Rates;
  /** Balances of the service. Without them, funds suffice. */
  balances?: Balances;
}

/** The library over a Temporal in memory. `clear` removes all orders, endings and settings. */
export interface TestPaymentOrders {
  /** The library itself. No time passes: what is not there at once is not there in time. */
  readonly orders: PaymentOrders;
  /** Orders that were started, oldest first. Starts that attached are not among them. */
  readonly sent: readonly SentOrder[];
  /**
   * Sets how an order ends: before its start, or now if it is open. Throws TypeError for an ending
   * that does not exist.
   */
  ends(orderId: string, ending: TestEnding, of?: { account?: string }): void;
  /** Throws TypeError for a setting that does not exist. */
  set(settings: TestSettings): void;
  /** Removes all orders, endings and settings. */
  clear(): void;
}

/** Query of the read `check`. */
type CheckQuery = { order_type: OrderType; input: OrderInput };

const SETTINGS = ['ending', 'fault', 'accounts', 'rates', 'balances'] satisfies (keyof TestSettings)[];

const READS = ['rates', 'balances', 'orderStatus', 'check'];

/** The library, whose starts do not share one check of the workers. */
class TestLibrary extends PaymentOrders {
  override async start<T extends OrderType>(...args: Parameters<PaymentOrders['start']>): Promise<OrderHandle> {
    const handle = await super.start<T>(...(args as [T, OrderInput<T>, StartOptions?]));
    return Object.assign(handle, { served: await this.isServed(handle.account) });
  }
}

class Double extends TestBatches {
  readonly orders = named(new TestLibrary(this.client));
  readonly sent: SentOrder[] = [];
  readonly #endings = new Map<string, TestEnding>();
  #settings: TestSettings = {};

  ends(orderId: string, ending: TestEnding, { account = DEFAULT_ACCOUNT }: { account?: string } = {}): void {
    checkEnding(ending);
    const workflowId = orderWorkflowId(account, orderId);
    this.#endings.set(workflowId, ending);
    this.endNow(workflowId, ending);
  }

  set(settings: TestSettings): void {
    for (const name of Object.keys(settings)) requireOneOf('a setting', name, SETTINGS);
    if (settings.ending !== undefined) checkEnding(settings.ending);
    requireOneOf('fault', settings.fault, [undefined, ...FAULTS]);
    this.#settings = { ...this.#settings, ...settings };
    this.serve(this.#settings.fault, this.#settings.accounts);
  }

  override clear(): void {
    super.clear();
    this.sent.length = 0;
    this.#endings.clear();
    this.#settings = {};
    this.set({});
  }

  protected override requireKnown(workflowType: string, input: unknown): void {
    const { read } = Object(input) as Partial<ServiceReadInput>;
    const isRead = workflowType === SERVICE_READ_WORKFLOW;
    if (isRead && !READS.includes(read ?? '')) throw notInDouble(`the read ${read}`);
    const isBatch = workflowType === BULK_WITHDRAW_WORKFLOW;
    if (isBatch && !Object(input).rows) throw notInDouble('files of batches');
    const type = isBatch ? 'withdraw' : orderTypeOf(workflowType);
    if (!isRead && !type) throw notInDouble(`the workflow ${workflowType}`);
    if (type && waitsForFunds(type, input as OrderInput & BatchInput, this.terms()))
      throw notInDouble('waits for funds');
  }

  protected override terms(): Terms {
    const { rates = DEFAULT_RATES, balances } = this.#settings;
    return { rates, balances };
  }

  protected override endingOf(workflowId: string): TestEnding {
    return this.#endings.get(workflowId) ?? this.#settings.ending ?? { outcome: 'completed' };
  }

  protected override started({ type: workflowType, input }: Run): void {
    const type = orderTypeOf(workflowType);
    if (type) this.sent.push({ type, input: input as RunInput });
  }

  protected override begin(run: Run): void {
    if (run.type !== SERVICE_READ_WORKFLOW) super.begin(run);
  }

  protected override proceed(run: Run): void {
    if (run.type === SERVICE_READ_WORKFLOW) this.#read(run);
    else super.proceed(run);
  }

  #read(run: Run): void {
    const { read, query = {} } = run.input as ServiceReadInput;
    const { rates, balances = {} } = this.terms();
    const answers = {
      rates: () => rates,
      balances: () => balances,
      check: () => this.#check(accountOf(run), query as CheckQuery),
      orderStatus: () => this.find(accountOf(run), query),
    };
    const result = answers[read as keyof typeof answers]();
    const failure = ApplicationFailure.nonRetryable('order/status answers HTTP 400: no such order', SERVICE_REJECTED);
    this.end(run, result ? { result } : { failure });
  }

  #check(account: string, { order_type: type, input }: CheckQuery): OrderFindings {
    const { order_id } = input.order;
    const ending = this.endingOf(orderWorkflowId(account, order_id));
    return findingsOf({ type, input, order: this.find(account, { order_id }), ending, terms: this.terms() });
  }
}

/** Returns the library in memory, for unit tests. By default, orders exist and complete at once. */
export function testPaymentOrders(): TestPaymentOrders {
  const double = new Double();
  return {
    orders: double.orders,
    sent: double.sent,
    ends: (orderId, ending, of) => double.ends(orderId, ending, of),
    set: (settings) => double.set(settings),
    clear: () => double.clear(),
  };
}

/**
 * Returns the body and headers of a signed event, to test a receiver. `sentAt`: default now. Throws
 * TypeError if `secret` is not `whsec_<base64>`.
 */
export function signedEvent(
  secret: string,
  type: EventKind,
  data: Partial<EventData> = {},
  sentAt: Date = new Date(),
): { body: string; headers: Record<string, string> } {
  const key = eventKeyOf(secret);
  if (!key) throw new TypeError('a secret must be whsec_ and the base64 of 24 to 64 bytes');
  const timestamp = sentAt.toISOString();
  const body = JSON.stringify({ type, timestamp, data: { account: 'default', sequence: 1, ...data } });
  return { body, headers: eventHeaders(`${randomUUID()}.1`, Buffer.from(body), [key], sentAt.getTime()) };
}
