import type { Client } from '@temporalio/client';
import {
  CREATED_UPDATE,
  DECIDE_UPDATE,
  FINAL_UPDATE,
  HOLD_UPDATE,
  ORDER_STATE_QUERY,
  orderWorkflowId,
  parseAfterEndWorkflowId,
  parseReceivedWorkflowId,
} from '../contract/names.js';
import type { OrderResult } from '../contract/order/input-and-result.js';
import type { Decision, OrderState } from '../contract/order/messages.js';
import type { Order } from '../contract/service-objects.js';
import type { Instruction } from './accounts.js';
import type { WaitOptions } from './bounded.js';
import { RefusedError } from './errors.js';
import { resultOfRun } from './history.js';
import { attentionAfterEnd, type ListedAttention } from './list-orders.js';
import { type Parked, RemoteRun, type UntilParked } from './remote-run.js';
import type { SignOptions } from './signing.js';
import { orderResult } from './standing.js';
import type { OrderWorkflow } from './start-options.js';
import { callTemporal, cameTooLate, untilRoom, untilTaken } from './temporal-calls.js';

/** Data about an order besides its id. */
export interface OrderHandleOptions {
  /** `start` found the order already started. Absent without a start. */
  attached?: boolean;
  /** `reconcile --recover` started the order that `start` found. */
  recovered?: boolean;
  /** Workflow id of a received order. Default: `order:<account>:<order_id>`. */
  workflowId?: string;
  /** Run that `start` made. */
  started?: string;
}

/** Returns true if a person has to decide, now or if nothing else helps. */
export const wantsPerson = ({ phase, attention }: OrderState): boolean =>
  phase === 'parked' || (attention?.allowed.length ?? 0) > 0;

/** Handle of one order. Methods throw TemporalUnreachableError and UnknownIdError. */
export class OrderHandle extends RemoteRun<OrderWorkflow> {
  /** The run was recovered from the order list: it reports, and never compensates. */
  readonly recovered?: boolean | undefined;
  /** A deposit on a permanent address made the order. */
  readonly received: boolean;
  /** Set by `start`: a worker served the account lately. False: the order waits for one. */
  readonly served?: boolean | undefined;

  /** Called by PaymentOrders. For a received order, `orderId` is its order_uuid. */
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

  /** Returns true for the look-ups after the end of a workflow. */
  get afterEnd(): boolean {
    return parseAfterEndWorkflowId(this.workflowId) !== undefined;
  }

  /** Returns the open question about a change after its end, if there is one. Needs no worker. */
  async attentionAfterEnd(wait?: WaitOptions): Promise<ListedAttention | undefined> {
    if (this.afterEnd) return undefined;
    return callTemporal(this.client, () => attentionAfterEnd(this.client, this.workflowId), wait);
  }

  /** Returns the state, also after the end. Throws NoWorkerError after 15 s without an answer. */
  state(wait?: WaitOptions): Promise<OrderState> {
    return this.ask(ORDER_STATE_QUERY, wait);
  }

  /** Waits until the order exists. Throws FailedError, and NotDecidedYetError after `timeoutMs`. */
  created(options?: WaitOptions): Promise<Order> {
    return this.#orderFrom(CREATED_UPDATE, options);
  }

  /** Waits for the first final status, before any compensation. Throws as `created` does. */
  final(options?: WaitOptions): Promise<Order> {
    return this.#orderFrom(FINAL_UPDATE, options);
  }

  /**
   * Waits for the result, after any compensation (`afterEnd`: an AfterEndResult). Throws as
   * `created` does, and UnresolvedError if the workflow was terminated.
   */
  override result(options: UntilParked): Promise<OrderResult | Parked<OrderState>>;
  override result(options?: WaitOptions): Promise<OrderResult>;
  override result({ until, ...wait }: Partial<UntilParked> = {}): Promise<OrderResult | Parked<OrderState>> {
    const end = async () => {
      const result = await super.result(wait);
      return this.afterEnd ? result : orderResult(result);
    };
    return until === undefined
      ? end()
      : this.orParked(end, { state: () => this.state(), wantsPerson }, { until, ...wait });
  }

  /**
   * Sends a decision to the run of its `runId` (default: the newest). Returns the state that took it,
   * before its effect. Throws RefusedError, and NoWorkerError without an answer in `timeoutMs` (15 s).
   */
  async decide(decision: Decision, { signer, ...wait }: WaitOptions & SignOptions = {}): Promise<OrderState> {
    const decide = async () =>
      this.tell<OrderState>(DECIDE_UPDATE, await this.chosen('decide', decision, { signer }), wait);
    return this.within(wait, decide, 'decide');
  }

  /**
   * Holds an order that is not sent yet, until a person decides `release` or `refuse`; returns the
   * new state. Throws RefusedError if it was sent or may have been (then it is held if it was not),
   * and as `decide` does.
   */
  hold(instruction: Instruction, { signer, ...wait }: WaitOptions & SignOptions = {}): Promise<OrderState> {
    const hold = async () =>
      this.tell<OrderState>(HOLD_UPDATE, await this.chosen(HOLD_UPDATE, instruction, { signer }), wait);
    return this.within(wait, hold, HOLD_UPDATE);
  }

  /** Requests that nothing more is sent. An unsent order ends as OrderCancelled. */
  async cancel(wait?: WaitOptions): Promise<void> {
    const cancel = async () => {
      // Temporal accepts the cancellation of an ended workflow and ignores it.
      if (await this.isOpen()) return this.run.cancel();
      throw new RefusedError(this.received ? 'received' : 'order', this.orderId, 'cancellation', 'it has ended');
    };
    await callTemporal(this.client, cancel, wait);
  }

  /** Returns the update's order. After the workflow's end, it is the order of the result. */
  #orderFrom(update: string, options?: WaitOptions): Promise<Order> {
    const call = async (): Promise<Order> => {
      try {
        // With a fixed id, any number of callers share one update in the history. They wait where
        // they keep nobody from stopping, deciding and asking the policy, which are updates, too.
        const options = { updateId: update, waitForStage: 'ACCEPTED' } as const;
        const waiting = await untilTaken(() => untilRoom(() => this.run.startUpdate<Order, []>(update, options)));
        return await untilRoom(() => waiting.result());
      } catch (error) {
        if (!cameTooLate(error)) throw error;
        return orderResult(await resultOfRun<OrderWorkflow>(this.client, this.workflowId)).order;
      }
    };
    return this.wait(call, options);
  }
}
