import { randomUUID } from 'node:crypto';
import {
  type Client,
  type WorkflowExecutionDescription,
  type WorkflowHandle,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { orderWorkflowId, parseReceivedWorkflowId } from '../contract/ids.js';
import {
  CREATED_UPDATE,
  DECIDE_UPDATE,
  FINAL_UPDATE,
  ORDER_STATE_QUERY,
  ORDERS_TASK_QUEUE,
} from '../contract/names.js';
import type { Decision, OrderState } from '../contract/order/messages.js';
import type { Order } from '../contract/order/order.js';
import type { OrderResult } from '../contract/order/result.js';
import { untilTaken } from './aborted-updates.js';
import { askWorkflow } from './ask-workflow.js';
import { DecisionRefusedError, NoWorkerError } from './errors.js';
import { cameTooLate, explain, waitForOrder } from './order-errors.js';
import type { OrderWorkflow } from './start-options.js';
import { ANSWER_TIMEOUT_MS, type CallOptions, callTemporal, isNobodyAnswering } from './temporal-calls.js';
import { CONFIRM_TIMEOUT_MS, checkTimeout, type WaitOptions } from './wait.js';

/** One order, also one that a receipt made. Every method may throw TemporalUnreachableError and, when there is no such order, UnknownOrderError. */
export class OrderHandle {
  readonly workflowId: string;
  readonly #client: Client;
  readonly #workflow: WorkflowHandle<OrderWorkflow>;

  /**
   * Made by PaymentOrders; `attached` is true when `start` found the order already started, `rebuilt` when what it found
   * was rebuilt by `reconcile --recover`: that run only reports, no compensation that was asked for is carried out. An
   * order that a receipt made has the service's order_uuid for `orderId`, and a `workflowId` of its own kind.
   */
  constructor(
    client: Client,
    readonly account: string,
    readonly orderId: string,
    readonly attached?: boolean,
    workflowId = orderWorkflowId(account, orderId),
    readonly rebuilt?: boolean,
  ) {
    this.#client = client;
    this.workflowId = workflowId;
    this.#workflow = client.workflow.getHandle<OrderWorkflow>(this.workflowId);
  }

  /** True for an order that a receipt on a permanent address made. */
  get received(): boolean {
    return parseReceivedWorkflowId(this.workflowId) !== undefined;
  }

  /** Where the order stands, also after its end. A worker answers: throws NoWorkerError within 15 s when none does. */
  async state(): Promise<OrderState> {
    try {
      return await askWorkflow<OrderState>(this.#client, this.#workflow, ORDER_STATE_QUERY);
    } catch (error) {
      if (!isNobodyAnswering(error)) throw await explain(this.#client, this, error);
      // A silent Temporal looks the same from here; this call tells.
      await this.isOpen();
      throw new NoWorkerError(ORDERS_TASK_QUEUE);
    }
  }

  /**
   * The order as soon as it exists at the service, with deposit address or URL. Throws OrderFailedError when none comes
   * to exist and NotDecidedYetError after `timeoutMs`.
   */
  created(options?: WaitOptions): Promise<Order> {
    return this.#orderFrom(CREATED_UPDATE, options);
  }

  /** The order at its first final status, before any compensation; throws as `created` does. */
  final(options?: WaitOptions): Promise<Order> {
    return this.#orderFrom(FINAL_UPDATE, options);
  }

  /**
   * The verdict, after any compensation: resolves for every order that exists at the service, whatever became of it.
   * Throws as `created` does, and OrderUnresolvedError when the workflow was terminated.
   */
  result(options?: WaitOptions): Promise<OrderResult> {
    return waitForOrder(this.#client, this, () => this.#workflow.result(), options);
  }

  /**
   * Hands a person's decision to a parked order and returns the state right after it was taken; what follows from it
   * shows later. Throws DecisionRefusedError with the reason when it is not taken, and NoWorkerError when no worker answers
   * within `timeoutMs`, 15 s when omitted.
   */
  async decide(decision: Decision, options: WaitOptions = {}): Promise<OrderState> {
    const timeoutMs = checkTimeout(options) ?? ANSWER_TIMEOUT_MS;
    const update = { args: [decision] as [Decision], updateId: randomUUID() };
    const call = async (): Promise<OrderState> => {
      try {
        return await untilTaken(() => this.#workflow.executeUpdate<OrderState, [Decision]>(DECIDE_UPDATE, update));
      } catch (error) {
        if (cameTooLate(error)) return this.#refuseDecision();
        if (!(error instanceof WorkflowUpdateFailedError)) throw error;
        throw new DecisionRefusedError(this.orderId, error.cause?.message ?? 'no reason given');
      }
    };
    try {
      return await this.#client.withDeadline(Date.now() + timeoutMs, call);
    } catch (error) {
      if (!isNobodyAnswering(error)) throw await explain(this.#client, this, error);
      // A silent Temporal looks the same from here; this call tells.
      await this.#describe({ timeoutMs: CONFIRM_TIMEOUT_MS });
      throw new NoWorkerError(ORDERS_TASK_QUEUE, 'decision', 'Decide again only on what the state shows then');
    }
  }

  /** True while the order's workflow is open; needs no worker. */
  async isOpen(): Promise<boolean> {
    const { status } = await this.#describe();
    return status.name === 'RUNNING';
  }

  async #describe(options?: CallOptions): Promise<WorkflowExecutionDescription> {
    try {
      return await callTemporal(this.#client, () => this.#workflow.describe(), options);
    } catch (error) {
      throw await explain(this.#client, this, error);
    }
  }

  /** The update's order; once the workflow has ended, the order of its result, which is the same one. */
  #orderFrom(update: string, options?: WaitOptions): Promise<Order> {
    const call = async (): Promise<Order> => {
      try {
        // A fixed id: any number of callers share one update in the history.
        return await untilTaken(() => this.#workflow.executeUpdate<Order, []>(update, { updateId: update }));
      } catch (error) {
        if (!cameTooLate(error)) throw error;
        return (await this.#workflow.result()).order;
      }
    };
    return waitForOrder(this.#client, this, call, options);
  }

  /** Temporal answers "not found" for ended orders too; only the others are unknown. */
  async #refuseDecision(): Promise<never> {
    await this.isOpen();
    throw new DecisionRefusedError(this.orderId, 'it has ended');
  }
}
