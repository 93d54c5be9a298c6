import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { eventHeaders, eventKeyOf } from './contract/event-signature.js';
import type { EventData, EventKind } from './contract/events.js';
import { SERVICE_REJECTED } from './contract/failures.js';
import { BULK_WITHDRAW_WORKFLOW, SERVICE_READ_WORKFLOW } from './contract/names.js';
import type { OrderFindings } from './contract/order/check.js';
import type { OrderInput, RunInput } from './contract/order/input-and-result.js';
import { ORDER_TYPES, type OrderType, workflowTypeOf } from './contract/order/types.js';
import type { Balances, Rates, ServiceReadInput } from './contract/service-objects.js';
import { PaymentOrders } from './index.js';
import { TestBatches } from './testing/batches.js';
import { findingsOf } from './testing/check.js';
import type { TestEnding } from './testing/endings.js';
import type { Run } from './testing/run.js';
import { type Fault, notInDouble } from './testing/temporal.js';

export type { TestEnding } from './testing/endings.js';
export type { Fault } from './testing/temporal.js';

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
  /** Answers of the service; {} if left out. `orders.check` computes its amounts by them. */
  rates?: Rates;
  balances?: Balances;
}

/** The library over a Temporal in memory. `clear` removes all orders, endings and settings. */
export interface TestPaymentOrders {
  /** The library itself. No time passes: what is not there at once is not there in time. */
  readonly orders: PaymentOrders;
  /** Orders that were started, oldest first. Starts that attached are not among them. */
  readonly sent: readonly SentOrder[];
  /** Sets how an order ends: before its start, or now if it is open. */
  ends(orderId: string, ending: TestEnding): void;
  set(settings: TestSettings): void;
  clear(): void;
}

/** Query of the read `check`. */
type CheckQuery = { order_type: OrderType; input: OrderInput };

const READS = ['rates', 'balances', 'orderStatus', 'check'];

const typeOf = (workflowType: string): OrderType | undefined =>
  ORDER_TYPES.find((one) => workflowTypeOf(one) === workflowType);

class Double extends TestBatches {
  readonly orders = new PaymentOrders(this.client);
  readonly sent: SentOrder[] = [];
  readonly #endings = new Map<string, TestEnding>();
  #settings: TestSettings = {};

  ends(orderId: string, ending: TestEnding): void {
    this.#endings.set(orderId, ending);
    this.endNow(orderId, ending);
  }

  set(settings: TestSettings): void {
    this.#settings = { ...this.#settings, ...settings };
    this.breakDown(this.#settings.fault);
  }

  override clear(): void {
    super.clear();
    this.sent.length = 0;
    this.#endings.clear();
    this.#settings = {};
    this.breakDown(undefined);
  }

  protected override requireKnown(workflowType: string, input: unknown): void {
    const { read } = Object(input) as Partial<ServiceReadInput>;
    const isRead = workflowType === SERVICE_READ_WORKFLOW;
    if (isRead && !READS.includes(read ?? '')) throw notInDouble(`read ${read}`);
    const isKnown = typeOf(workflowType) || (workflowType === BULK_WITHDRAW_WORKFLOW && Object(input).rows);
    if (!isRead && !isKnown) throw notInDouble(`workflow ${workflowType}`);
  }

  protected override terms(): TestSettings {
    return this.#settings;
  }

  protected override endingOf(orderId: string): TestEnding {
    return this.#endings.get(orderId) ?? this.#settings.ending ?? { outcome: 'completed' };
  }

  protected override started({ type: workflowType, input }: Run): void {
    const type = typeOf(workflowType);
    if (type) this.sent.push({ type, input: input as RunInput });
  }

  protected override begin(run: Run): void {
    if (run.type === SERVICE_READ_WORKFLOW) this.#read(run);
    else super.begin(run);
  }

  #read(run: Run): void {
    const { read, query = {} } = run.input as ServiceReadInput;
    const { rates = {}, balances = {} } = this.#settings;
    const answers = {
      rates: () => rates,
      balances: () => balances,
      check: () => this.#check(query as CheckQuery),
      orderStatus: () => this.find(query),
    };
    const result = answers[read as keyof typeof answers]();
    const failure = ApplicationFailure.nonRetryable('order/status answers HTTP 400: no such order', SERVICE_REJECTED);
    this.end(run, result ? { result } : { failure });
  }

  #check({ order_type: type, input: { order: request } }: CheckQuery): OrderFindings {
    const { order_id } = request;
    const { rates, balances } = this.#settings;
    const [order, ending] = [this.find({ order_id }), this.endingOf(order_id)];
    return findingsOf({ type, request, order, ending, rates, balances });
  }
}

/** Returns the library in memory, for unit tests. By default, orders exist and complete at once. */
export function testPaymentOrders(): TestPaymentOrders {
  const double = new Double();
  return {
    orders: double.orders,
    sent: double.sent,
    ends: (orderId, ending) => double.ends(orderId, ending),
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
