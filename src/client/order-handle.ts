import type { Client } from '@temporalio/client';
import {
  CREATED_UPDATE,
  DECIDE_UPDATE,
  FINAL_UPDATE,
  ORDER_STATE_QUERY,
  orderWorkflowId,
  parseAfterEndWorkflowId,
  parseReceivedWorkflowId,
} from '../contract/names.js';
import type { OrderResult } from '../contract/order/input-and-result.js';
import type { Decision, OrderState } from '../contract/order/messages.js';
import type { Order } from '../contract/service-objects.js';
import { RefusedError } from './errors.js';
import { resultOfRun } from './history.js';
import { checkTimeout, RemoteRun, type WaitOptions } from './remote-run.js';
import type { SignOptions } from './signing.js';
import { orderResult } from './standing.js';
import type { OrderWorkflow } from './start-options.js';
import { callTemporal, cameTooLate, untilTaken } from './temporal-calls.js';

/** What is known of an order beside its id. */
export interface OrderHandleOptions {
  /** Whether `start` found the order already started; absent without a start. */
  attached?: boolean;
  /** Whether `reconcile --recover` started the order that `start` found. */
  recovered?: boolean;
  /** Of an order that a receipt made; `order:<account>:<order_id>` when omitted. */
  workflowId?: string;
  /** The run that `start` made. */
  started?: string;
}

/** One order, also one that a receipt made. Methods throw TemporalUnreachableError, and UnknownIdError where there is none. */
export class OrderHandle extends RemoteRun<OrderWorkflow> {
  /** Whether it was recovered from the order list. Such a run only reports, and compensates nothing. */
  readonly recovered?: boolean | undefined;
  /** True for an order that a receipt on a permanent address made. */
  readonly received: boolean;

  /** Made by PaymentOrders; for a receipt's order, `orderId` is its order_uuid and `workflowId` is of another kind. */
  constructor(
    client: Client,
    account: string,
    readonly orderId: string,
    { attached, recovered, started, workflowId = orderWorkflowId(account, orderId) }: OrderHandleOptions = {},
  ) {
    const { ended = workflowId } = parseAfterEndWorkflowId(workflowId) ?? {};
    const received = parseReceivedWorkflowId(ended) !== undefined;
    super(client, { subject: received ? 'received' : 'order', id: orderId, account, workflowId, attached, started });
    this.recovered = recovered;
    this.received = received;
  }

  /** True for the look-ups after the end of an order's or a receipt's workflow. */
  get afterEnd(): boolean {
    return parseAfterEndWorkflowId(this.workflowId) !== undefined;
  }

  /** Where the order stands, also after its end. A worker answers: throws NoWorkerError within 15 s when none does. */
  state(): Promise<OrderState> {
    return this.ask(ORDER_STATE_QUERY);
  }

  /** The order once it exists. Throws FailedError when none comes to exist, NotDecidedYetError after `timeoutMs`. */
  created(options?: WaitOptions): Promise<Order> {
    return this.#orderFrom(CREATED_UPDATE, options);
  }

  /** The order at its first final status, before any compensation; throws as `created` does. */
  final(options?: WaitOptions): Promise<Order> {
    return this.#orderFrom(FINAL_UPDATE, options);
  }

  /**
   * Waits for the result, after any compensation, whatever became of the order (`afterEnd`: an AfterEndResult).
   * Throws as `created` does, and UnresolvedError when the workflow was terminated.
   */
  override async result(options?: WaitOptions): Promise<OrderResult> {
    const result = await super.result(options);
    return this.afterEnd ? result : orderResult(result);
  }

  /**
   * Hands in a decision for the run of its `runId`, by default the newest; returns the state after it.
   * Throws RefusedError, and NoWorkerError if none answers in `timeoutMs` (15 s).
   */
  async decide(decision: Decision, { signer, ...wait }: WaitOptions & SignOptions = {}): Promise<OrderState> {
    checkTimeout(wait);
    return this.tell(DECIDE_UPDATE, await this.chosen('decide', decision, { signer }), wait);
  }

  /** Asks that nothing more is sent. An unsent order ends as OrderCancelled; another one is followed to its end. */
  async cancel(): Promise<void> {
    // Temporal takes the cancellation of what has ended, and does nothing.
    if (!(await this.isOpen())) {
      throw new RefusedError(this.received ? 'received' : 'order', this.orderId, 'cancellation', 'it has ended');
    }
    await callTemporal(this.client, () => this.run.cancel());
  }

  /** The update's order; once the workflow has ended, the order of its result, which is the same one. */
  #orderFrom(update: string, options?: WaitOptions): Promise<Order> {
    const call = async (): Promise<Order> => {
      try {
        // A fixed id: any number of callers share one update in the history.
        return await untilTaken(() => this.run.executeUpdate<Order, []>(update, { updateId: update }));
      } catch (error) {
        if (!cameTooLate(error)) throw error;
        return orderResult(await resultOfRun<OrderWorkflow>(this.client, this.workflowId)).order;
      }
    };
    return this.wait(call, options);
  }
}
