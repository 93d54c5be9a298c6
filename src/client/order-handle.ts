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
import { resultOfRun } from './history.js';
import { checkTimeout, RemoteRun, type WaitOptions } from './remote-run.js';
import type { SignOptions } from './signing.js';
import { orderResult } from './standing.js';
import type { OrderWorkflow } from './start-options.js';
import { cameTooLate, untilTaken } from './temporal-calls.js';

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

/** The run of an order, also of one that a receipt made. */
export function orderRun(
  client: Client,
  account: string,
  id: string,
  { attached, started, workflowId = orderWorkflowId(account, id) }: OrderHandleOptions = {},
): RemoteRun<OrderWorkflow> {
  const { ended = workflowId } = parseAfterEndWorkflowId(workflowId) ?? {};
  const subject = parseReceivedWorkflowId(ended) ? 'received' : 'order';
  return new RemoteRun(client, { subject, id, account, workflowId, attached, started });
}

/** One order, also one that a receipt made. Methods throw TemporalUnreachableError, and UnknownIdError where there is none. */
export class OrderHandle {
  readonly workflowId: string;
  /** Whether `start` found the order already started. */
  readonly attached?: boolean;
  /** Whether it was recovered from the order list. Such a run only reports, and compensates nothing. */
  readonly recovered?: boolean;
  readonly #run: RemoteRun<OrderWorkflow>;

  /** Made by PaymentOrders; for a receipt's order, `orderId` is its order_uuid and `workflowId` is of another kind. */
  constructor(
    client: Client,
    readonly account: string,
    readonly orderId: string,
    options: OrderHandleOptions = {},
  ) {
    this.#run = orderRun(client, account, orderId, options);
    this.workflowId = this.#run.about.workflowId;
    this.attached = options.attached;
    this.recovered = options.recovered;
  }

  /** True for an order that a receipt on a permanent address made. */
  get received(): boolean {
    return this.#run.about.subject === 'received';
  }

  /** True for the look-ups after the end of an order's or a receipt's workflow. */
  get afterEnd(): boolean {
    return parseAfterEndWorkflowId(this.workflowId) !== undefined;
  }

  /** Where the order stands, also after its end. A worker answers: throws NoWorkerError within 15 s when none does. */
  state(): Promise<OrderState> {
    return this.#run.ask(ORDER_STATE_QUERY);
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
   * The result, after any compensation: resolves for every order that exists at the service, whatever became of it.
   * Throws as `created` does, and UnresolvedError when the workflow was terminated. With `afterEnd` it is
   * an AfterEndResult.
   */
  async result(options?: WaitOptions): Promise<OrderResult> {
    const result = await this.#run.result(options);
    return this.afterEnd ? result : orderResult(result);
  }

  /**
   * Hands a person's decision to a parked order and returns the state right after it was taken; what follows from it
   * shows later. Throws RefusedError with the reason when it is not taken, and NoWorkerError when no worker answers
   * within `timeoutMs`, 15 s when omitted. A decision, and what a `signer` signs of it, counts in the run of its `runId` alone, which
   * is the newest one when omitted.
   */
  async decide(decision: Decision, { signer, ...wait }: WaitOptions & SignOptions = {}): Promise<OrderState> {
    checkTimeout(wait);
    return this.#run.tell(DECIDE_UPDATE, await this.#run.chosen('decide', decision, { signer }), {
      ...wait,
      refused: 'decision',
      request: 'decision',
      meanwhile: 'Decide again only on what the state shows then',
    });
  }

  /**
   * Asks that nothing is sent any more; resolves once Temporal has taken the wish, workers or not. An order that nothing was sent of ends
   * with FailedError (OrderCancelled) from `result`; another one goes on to its end, and what would move money again waits
   * for a person. Throws RefusedError when it has ended.
   */
  cancel(): Promise<void> {
    return this.#run.cancel();
  }

  /** Returns true while the order's workflow is open; needs no worker. */
  isOpen(): Promise<boolean> {
    return this.#run.isOpen();
  }

  /** The update's order; once the workflow has ended, the order of its result, which is the same one. */
  #orderFrom(update: string, options?: WaitOptions): Promise<Order> {
    const { client, handle } = this.#run;
    const call = async (): Promise<Order> => {
      try {
        // A fixed id: any number of callers share one update in the history.
        return await untilTaken(() => handle.executeUpdate<Order, []>(update, { updateId: update }));
      } catch (error) {
        if (!cameTooLate(error)) throw error;
        return orderResult(await resultOfRun<OrderWorkflow>(client, this.workflowId)).order;
      }
    };
    return this.#run.wait(call, options);
  }
}
