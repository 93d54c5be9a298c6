import { type ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { DEFAULT_ACCOUNT } from '../../contract/names.js';
import type { Payers } from '../../contract/order/activities.js';
import { receivedRequest } from '../../contract/order/followers.js';
import type { ReceivedDepositInput, RunInput, RunOptions } from '../../contract/order/input-and-result.js';
import type {
  ApprovedAmount,
  Attention,
  DecisionRecord,
  OrderPhase,
  TakenDecision,
} from '../../contract/order/messages.js';
import type { CreateRequest } from '../../contract/order/request.js';
import type { SentTo } from '../../contract/order/sent-to.js';
import type { Strictest } from '../../contract/order/stricter.js';
import { factsOf, type OrderType, type ReceivedType } from '../../contract/order/types.js';
import type { Order } from '../../contract/service-objects.js';
import { withoutNulls } from '../../contract/without-nulls.js';
import { SEND_TIMEOUT_MS } from '../activity-calls.js';
import type { Offer } from '../compensation/offers.js';
import { type Doubt, type Facts, openFacts, wasEverInDoubt } from '../create/facts.js';
import type { Ours } from '../create/readings.js';

/** An order of the service that may be adopted. `differences`: in which fields it is not like ours, as far as that was read. */
export interface Candidate {
  order_uuid: string;
  differences?: string[];
}

/** Everything one order workflow knows; handlers and steps read and change it, nothing else is shared. */
export interface OrderRun {
  /** As started: unchecked until `checkOrder`, validated in full by the first activity. */
  readonly input: RunOptions;
  readonly account: string;
  /** Of a received order, what it is shows at its look-up: `identify` then sets these three, once. */
  type: OrderType;
  /** Its `order_id` is what we call the order, and what follow-ups extend. */
  request: CreateRequest;
  /** What the service calls it, as `user_order_id`. Differs from ours for receipts, which nobody here named. */
  orderId: string;
  /** Of this very run: one that a reset makes has another. */
  readonly runId: string;

  phase: OrderPhase;
  revision: number;
  attention?: Attention;
  /** What the workflow waits for, in words, for the current details. */
  waitingFor: string;

  /** The newest order seen; undefined until one is known to exist at the service. */
  order?: Order;
  /** Set once, by the first signed look-up that showed a final status. */
  finalOrder?: Order;
  /** Checks that were skipped, and what was found and only told, when the order was sent. */
  notes?: string[];
  /** `statusSaid`: how the status operation showed no order when it was last read as absent, for people. */
  readonly lastLookUp: { atMs?: number; statusSaid?: string | undefined };
  /** Set when no order comes to exist; `created` and `final` then fail with it. */
  failure?: ApplicationFailure;

  /** All that decides what becomes of the create: see `create/next-action.ts`. */
  facts: Facts;
  /** The strictest that workers of the account have told this run: it holds, whichever worker answers next. */
  strictest: Strictest;
  /** What the order was sent to. Set before anything is sent for followers, which are about an order of that account. */
  sentTo?: SentTo;
  /** Run that asked for the newest answer; differs from the one before it where the workflow was reset in between. */
  answeredIn: string;
  /** Who pays the commissions, as rates said first, and at any later time: a difference from it before an agreement. */
  payers?: { first: Payers; later: Payers };
  /** The amount above the cap that an operator approved last. */
  approved?: ApprovedAmount;

  /** How often a person was told that no worker serves the account. */
  timesUnserved: number;

  /** Somebody claimed that the order changed. `isDue`: one look-up is; `firstAtMs`: when, since a look-up showed no end. */
  callback: { isDue: boolean; firstAtMs?: number | undefined };
  parked: Parked;
  decisions: DecisionRecord[];
}

/** What a person is asked, and has decided. `offers`: what `finish` and `revert` may mean; `candidates`: orders that `adopt` may. */
export interface Parked {
  offers: readonly Offer[];
  candidates: readonly Candidate[];
  decision?: TakenDecision;
}

/** The state an order workflow starts with. Tolerates any input: `checkOrder` refuses bad ones. */
export function openRun(type: OrderType, started: RunInput): OrderRun {
  const input = withoutNulls(started);
  const request = input?.order;
  const account = input?.account ?? DEFAULT_ACCOUNT;
  return {
    type,
    input,
    account,
    request,
    orderId: request?.order_id,
    phase: 'creating',
    runId: workflowInfo().runId,
    revision: 1,
    waitingFor: 'a worker that takes the create',
    facts: openFacts(input?.resend, factsOf(type).movesMoneyAtOnce, firstDoubt(input)),
    sentTo: input?.recovered?.sentTo ?? input?.sentTo,
    answeredIn: workflowInfo().firstExecutionRunId,
    timesUnserved: 0,
    strictest: {},
    lastLookUp: {},
    callback: { isDue: false },
    parked: { offers: [], candidates: [] },
    decisions: [],
  };
}

/** What the input says that may have been sent before this run: by the run that is lost, or by an earlier one. It may be under way yet. */
function firstDoubt(input: RunOptions | undefined): Doubt | undefined {
  const place = input?.accountUnknown ? 'unknown' : 'asked';
  const untilMs = workflowInfo().startTime.getTime() + SEND_TIMEOUT_MS;
  if (input?.recovered) return { cause: 'recovered', untilMs, place, said: 'the order list showed this order' };
  if (!input?.sentUntil) return undefined;
  return { cause: 'earlierRun', untilMs, place, said: 'an earlier run of this order id may have sent it' };
}

/** The state of a run that follows a received order. Until the order is found there is nothing to decide or send. */
export function openReceivedRun(input: ReceivedDepositInput): OrderRun {
  return {
    ...openRun('deposit', input as unknown as RunInput),
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
  const { first, later } = run.payers ?? { first: seen, later: seen };
  const from = seen.from === first.from ? later.from : seen.from;
  const to = seen.to === first.to ? later.to : seen.to;
  run.payers = { first, later: { from, to } };
}

/** How the order was taken, once it was. */
export const takenAs = ({ facts: { found } }: Pick<OrderRun, 'facts'>): Ours | undefined =>
  found?.kind === 'ours' ? found : undefined;

/** True where a look-up showed the order, and not only the answer to its create. */
export const isAdopted = (run: Pick<OrderRun, 'facts'>): boolean => takenAs(run)?.how === 'adopted';

/** True for a run that a reset has cut from another one, which may have sent what this one has no event of. */
export const isReset = (): boolean => workflowInfo().runId !== workflowInfo().firstExecutionRunId;

/** True once any run of this order id may have sent. Only where a run ends or a person reads it may the run id say so. */
export const mayHaveSent = ({ facts }: OrderRun): boolean => wasEverInDoubt(facts) || isReset();

/** That nothing is there, and how the service says so: a wrong path is answered like an unknown order. */
export const showsNone = ({ lastLookUp: { statusSaid } }: OrderRun): string =>
  `the service shows no such order${statusSaid === undefined ? '' : ` (order/status answers ${statusSaid})`}`;
