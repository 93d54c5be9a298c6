import {
  type Client,
  isGrpcDeadlineError,
  WorkflowFailedError,
  type WorkflowHandle,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { isOrderFailure } from '../contract/failures.js';
import { orderWorkflowId } from '../contract/ids.js';
import type { OrderState } from '../contract/messages.js';
import {
  CREATED_UPDATE,
  DECIDE_UPDATE,
  FINAL_UPDATE,
  ORDER_STATE_QUERY,
  ORDERS_TASK_QUEUE,
} from '../contract/names.js';
import type { Decision, Order, OrderInput, OrderResult } from '../contract/orders.js';
import {
  DecisionRefusedError,
  NotDecidedYetError,
  NoWorkerError,
  OrderFailedError,
  OrderUnresolvedError,
  UnknownOrderError,
} from './errors.js';
import { fieldsOfFailure } from './failure-details.js';
import { callTemporal, isNobodyAnswering, translated } from './temporal-calls.js';

/** A query is answered by a worker at once or not at all. */
const QUERY_TIMEOUT_MS = 10_000;

/** The server's failure type of an update whose workflow ended before the update did. */
const UPDATE_OUTLIVED_WORKFLOW = 'AcceptedUpdateCompletedWorkflow';

/** How long a call may wait for the order. Omitted = as long as it takes, which may be days. */
export interface WaitOptions {
  timeoutMs?: number;
}

type OrderWorkflow = (input: OrderInput) => Promise<OrderResult>;

/** What the end of a workflow or update says about the order: no order of ours exists, or nothing is known. */
function failureOf(orderId: string, cause: unknown): Error {
  if (cause instanceof ApplicationFailure && isOrderFailure(cause.type)) {
    return new OrderFailedError(orderId, cause.type, cause.message, fieldsOfFailure(cause));
  }
  return new OrderUnresolvedError(orderId, cause instanceof Error ? cause.message : 'no reason given');
}

/** True when an update came too late: its workflow has ended or never was. */
function hasEnded(error: unknown): boolean {
  if (error instanceof WorkflowNotFoundError) return true;
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === UPDATE_OUTLIVED_WORKFLOW;
}

/** One order. Every method may throw TemporalUnreachableError and, when there is no such order, UnknownOrderError. */
export class OrderHandle {
  readonly workflowId: string;
  readonly #workflow: WorkflowHandle<OrderWorkflow>;

  constructor(
    readonly client: Client,
    readonly account: string,
    readonly orderId: string,
    /** True when `start` found the order already started; undefined where nobody asked. */
    readonly attached?: boolean,
  ) {
    this.workflowId = orderWorkflowId(account, orderId);
    this.#workflow = client.workflow.getHandle<OrderWorkflow>(this.workflowId);
  }

  /** Where the order stands, also after its end. A worker answers: throws NoWorkerError within 10 s when none does. */
  async state(): Promise<OrderState> {
    try {
      return await this.client.withDeadline(Date.now() + QUERY_TIMEOUT_MS, () =>
        this.#workflow.query<OrderState>(ORDER_STATE_QUERY),
      );
    } catch (error) {
      if (!isNobodyAnswering(error)) throw await this.explain(error);
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
    return this.waitFor(() => this.#workflow.result(), options);
  }

  /**
   * Hands a person's decision to a parked order and returns the state right after it was taken; what follows from it
   * shows later. Throws DecisionRefusedError with the reason when it is not taken.
   */
  decide(decision: Decision, options?: WaitOptions): Promise<OrderState> {
    return this.waitFor(async () => {
      try {
        return await this.#workflow.executeUpdate<OrderState, [Decision]>(DECIDE_UPDATE, { args: [decision] });
      } catch (error) {
        if (hasEnded(error)) return this.#refuseDecision();
        if (!(error instanceof WorkflowUpdateFailedError)) throw error;
        throw new DecisionRefusedError(this.orderId, error.cause?.message ?? 'no reason given');
      }
    }, options);
  }

  /** True while the order's workflow is open. */
  async isOpen(): Promise<boolean> {
    try {
      const { status } = await callTemporal(this.client, () => this.#workflow.describe());
      return status.name === 'RUNNING';
    } catch (error) {
      throw await this.explain(error);
    }
  }

  /** Runs a call that waits for the order and says in the library's errors why it did not get there. */
  async waitFor<T>(call: () => Promise<T>, { timeoutMs }: WaitOptions = {}): Promise<T> {
    try {
      return timeoutMs === undefined ? await call() : await this.client.withDeadline(Date.now() + timeoutMs, call);
    } catch (error) {
      const timedOut = error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isGrpcDeadlineError(error);
      throw timedOut && timeoutMs !== undefined ? new NotDecidedYetError(this.orderId) : await this.explain(error);
    }
  }

  /** The library's error for what the SDK threw. */
  async explain(error: unknown): Promise<unknown> {
    if (error instanceof WorkflowNotFoundError) return new UnknownOrderError(this.orderId, this.account);
    if (error instanceof WorkflowFailedError || error instanceof WorkflowUpdateFailedError) {
      return failureOf(this.orderId, error.cause);
    }
    return translated(this.client, error);
  }

  /** The update's order; once the workflow has ended, the order of its result, which is the same one. */
  #orderFrom(update: string, options?: WaitOptions): Promise<Order> {
    return this.waitFor(async () => {
      try {
        // A fixed id: any number of callers share one update in the history.
        return await this.#workflow.executeUpdate<Order, []>(update, { updateId: update });
      } catch (error) {
        if (!hasEnded(error)) throw error;
        return (await this.#workflow.result()).order;
      }
    }, options);
  }

  /** Temporal answers "not found" for ended orders too. */
  async #refuseDecision(): Promise<never> {
    await this.isOpen();
    throw new DecisionRefusedError(this.orderId, 'it has ended');
  }
}
