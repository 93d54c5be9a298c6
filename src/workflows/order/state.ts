import { type ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { DEFAULT_ACCOUNT } from '../../contract/names.js';
import type { Pace, Payers } from '../../contract/order/activities.js';
import { receivedRequest } from '../../contract/order/followers.js';
import type { OrderInput, OrderOptions, ReceivedDepositInput } from '../../contract/order/input-and-result.js';
import type { Attention, DecisionRecord, OrderPhase, TakenDecision } from '../../contract/order/messages.js';
import type { CreateRequest } from '../../contract/order/request.js';
import type { SentTo } from '../../contract/order/sent-to.js';
import type { OrderType, ReceivedType } from '../../contract/order/types.js';
import type { Order } from '../../contract/service-objects.js';
import type { OnlyByCommand } from '../../contract/signature.js';
import { withoutNulls } from '../../contract/without-nulls.js';
import type { Offer } from '../compensation/offers.js';
import type { Sends } from '../create/may-resend.js';
import { isFollowUp } from '../identity.js';

/** An order of the service that may be adopted. `differences`: in which fields it is not like ours, as far as that was read. */
export interface Candidate {
  order_uuid: string;
  differences?: string[];
}

/** Everything one order workflow knows; handlers and steps read and change it, nothing else is shared. */
export interface OrderRun {
  /** As started: unchecked until `checkOrder`, validated in full by the first activity. */
  readonly input: OrderOptions;
  readonly account: string;
  /** Of a received order, what it is shows at its look-up: `identify` then sets these three, once. */
  type: OrderType;
  /** Its `order_id` is what we call the order, and what follow-ups extend. */
  request: CreateRequest;
  /** What the service calls it, as `user_order_id`. Differs from ours for receipts, which nobody here named. */
  orderId: string;
  /** Started by the very order that it extends. */
  readonly followUp: boolean;
  /** Of this very run: one that a reset makes has another. */
  readonly runId: string;

  phase: OrderPhase;
  revision: number;
  attention?: Attention;
  /** What the workflow waits for, in words, for the current details. */
  waitingFor: string;

  /** The newest order seen; undefined until one is known to exist at the service. */
  order?: Order;
  /** False while `order` is only what the create itself answered. */
  orderFromLookUp: boolean;
  /** Set once, by the first signed look-up that showed a final status. */
  finalOrder?: Order;
  adopted: boolean;
  /** Fields of the request that the service shows in another form, or in spite of which a person adopted the order. */
  echoDifferences?: string[];
  /** Checks that were skipped, and what was found and only told, when the order was sent. */
  notes?: string[];
  /** Those in spite of which a person adopted it: what is known of the request no longer says what the order is. */
  overruled?: string[];
  lastLookupAtMs?: number;
  /** When the first callback came since a look-up showed no end. */
  callbackAtMs?: number;
  /** How the status operation showed no order when it was last read as absent, for people. */
  statusSaid?: string;
  /** Set when no order comes to exist; `created` and `final` then fail with it. */
  failure?: ApplicationFailure;

  /** The evidence by which it is decided whether a create is sent: see `create/may-resend.ts`. */
  sends: Sends;
  /** Why a person was asked about an order under our id that is not like ours. */
  conflict?: string;
  firstAttemptAtMs?: number;
  pace?: Pace;
  /** What the order was sent to. Set before anything is sent for followers, which are about an order of that account. */
  sentTo?: SentTo;
  /** What is shown while the account asked is not the order's: a person must mend that before anything else. */
  elsewhere?: Attention;
  /** Run that asked for the newest answer; differs from the one before it where the workflow was reset in between. */
  answeredIn: string;
  payers?: Payers;
  /** What rates said about the payers at any later time, a difference from `payers` before an agreement. */
  laterPayers?: Payers;
  /** A person approved an amount above the cap. */
  approved?: boolean;

  /** How often a person was told that no worker serves the account. */
  timesUnserved: number;

  /** Somebody claimed that the order changed: one look-up is due. */
  callbackPending: boolean;
  cancelRequested: boolean;
  /** Takes an attempt that no worker has started out of its queue; set while one before the first send waits there. */
  takeBack?: () => void;
  /** Because of the cancellation it was looked whether an order is there: once, since a reset run may go on after that. */
  cancelLookedFor?: true;
  decision?: TakenDecision;
  /** What `finish` and `revert` may mean while the order is parked for them. */
  offers: readonly Offer[];
  /** Orders of the service that `adopt` may mean while it is asked about. */
  candidates: readonly Candidate[];
  /** As a worker of the account said last. */
  onlyByCommand?: OnlyByCommand;
  decisions: DecisionRecord[];
}

/** The state an order workflow starts with. Tolerates any input: `checkOrder` refuses bad ones. */
export function openRun(type: OrderType, started: OrderInput): OrderRun {
  const input = withoutNulls(started);
  const request = input?.order;
  const account = input?.account ?? DEFAULT_ACCOUNT;
  return {
    type,
    input,
    account,
    request,
    orderId: request?.order_id,
    followUp: isFollowUp(request?.order_id, account),
    phase: 'creating',
    runId: workflowInfo().runId,
    revision: 1,
    waitingFor: 'a worker that takes the create',
    adopted: false,
    orderFromLookUp: false,
    sends: {
      // The run that is lost has sent it.
      count: input?.recovered ? 1 : 0,
      unclear: '',
      earlierInDoubt: Boolean(input?.sentUntil),
      accountSwitches: 0,
      accountUnknown: Boolean(input?.accountUnknown),
      mayBeReplaced: false,
      rejected: false,
    },
    sentTo: input?.recovered?.sentTo ?? input?.sentTo,
    answeredIn: workflowInfo().firstExecutionRunId,
    timesUnserved: 0,
    callbackPending: false,
    cancelRequested: false,
    offers: [],
    candidates: [],
    decisions: [],
  };
}

/** The state of a run that follows a received order. Until the order is found there is nothing to decide or send. */
export function openReceivedRun(input: ReceivedDepositInput): OrderRun {
  return {
    ...openRun('deposit', input as unknown as OrderInput),
    orderId: input?.order_uuid,
    phase: 'following',
    waitingFor: 'a look-up of the order',
  };
}

/** From here on it is known what a received order is. */
export function identify(run: OrderRun, type: ReceivedType, order: Order): void {
  run.type = type;
  run.request = receivedRequest(type, order);
  run.orderId = order.user_order_id;
}

/** Keeps the payers that rates named first. Another one named later is kept beside them: a doubt that does not go away. */
export function notePayers(run: OrderRun, seen: Payers | undefined): void {
  if (!seen) return;
  run.payers ??= seen;
  const { payers: kept, laterPayers: before = kept } = run;
  run.laterPayers = {
    from: seen.from === kept.from ? before.from : seen.from,
    to: seen.to === kept.to ? before.to : seen.to,
  };
}

/**
 * True while this history knows of no create under the order id that is on its way or in doubt. THE question by which steps are
 * ordered: a run that a reset makes replays what the run before it did, so that both must answer it alike.
 */
export const knowsOfNoSend = ({ sends }: OrderRun): boolean =>
  sends.count === 0 && !sends.earlierInDoubt && !sends.accountUnknown;

/** True from when a worker said that Temporal was restored until absence is proven over the settle window since then. */
export const restoreInDoubt = ({ sends: { restoredAtMs = 0, restoreSettledMs = 0 } }: OrderRun): boolean =>
  restoredAtMs > restoreSettledMs;

/**
 * True while no create of this run can have reached the service. A reset run cannot say so: the run it was cut from may
 * have sent one. (The run id is only looked at where a workflow ends or a person is asked, never to order steps.)
 */
export const thisRunSentNothing = (run: OrderRun): boolean =>
  run.sends.count === 0 && !run.sends.accountUnknown && workflowInfo().runId === workflowInfo().firstExecutionRunId;

/** True where a create may have gone to a place that nobody knows: absence read elsewhere proves nothing about it. */
export const isPlaceUnknown = (run: OrderRun): boolean =>
  run.sends.accountUnknown || (run.sends.count === 0 && !run.sentTo && !thisRunSentNothing(run));

/**
 * True while no create under this order id is on its way or in doubt, of this run or of an earlier one. THE question before an end
 * that says so: where it is true the run ends, and never goes on otherwise than a reset run.
 */
export const noSendInDoubt = (run: OrderRun): boolean =>
  thisRunSentNothing(run) && knowsOfNoSend(run) && !restoreInDoubt(run);

/** True when no run of this order id may ever have sent: what is there under the id cannot be of ours. Takes any input. */
export const noRunEverSent = (run: OrderRun): boolean =>
  thisRunSentNothing(run) && !run.input?.sentUntil && run.sends.restoredAtMs === undefined;

/** That nothing is there, and how the service says so: a wrong path is answered like an unknown order. */
export const showsNone = ({ statusSaid }: OrderRun): string =>
  `the service shows no such order${statusSaid === undefined ? '' : ` (order/status answers ${statusSaid})`}`;
