import { type ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { DEFAULT_ACCOUNT } from '../../contract/names.js';
import { type BreachedRule, CREATE_TIMEOUT_MS, type Payers, SEND_TIMEOUT_MS } from '../../contract/order/activities.js';
import { receivedRequest } from '../../contract/order/followers.js';
import type { FundsNews } from '../../contract/order/funds.js';
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
import type { Offer } from '../compensation/offers.js';
import { type Candidate, type Doubt, type Facts, type Ours, openFacts, wasEverInDoubt } from '../create/facts.js';
import { type Outbox, openOutbox } from '../outbox.js';

export interface OrderRun {
  /** Unchecked until `checkOrder`; the first activity validates it in full. */
  input: RunOptions;
  readonly account: string;
  /** `identify` sets type and request once for a received order. */
  type: OrderType;
  /** Its `order_id` is our name of the order, which follow-ups extend. */
  request: CreateRequest;

  phase: OrderPhase;
  revision: number;
  attention?: Attention;
  /** In words, for the current details. */
  waitingFor: string;

  /** The newest order seen at the service. */
  order?: Order;
  /** Order of the first look-up that showed a final status. */
  finalOrder?: Order;
  /** Checks that were skipped or only reported at the send. */
  notes?: string[];
  /** `statusSaid`: answer of the status operation at the last absence, for operators. */
  readonly lastLookUp: { atMs?: number; statusSaid?: string | undefined };
  /** Failure of `created` and `final` if there will be no order. */
  failure?: ApplicationFailure;

  /** Decides the create: see `create/next-action.ts`. */
  facts: Facts;
  /** Strictest limits that workers have reported. They hold for every worker. */
  strictest: Strictest;
  /** Account of the order. Followers have one from their start. */
  sentTo?: SentTo;
  /** Run that asked for the newest answer, before which the worker checked the input. */
  answeredIn?: string;
  /** Payers of the commissions by the first rates, and by later ones that differ. */
  payers?: { first: Payers; later: Payers };
  /** Approvals of an amount above the cap, and of each breached rule of the policy. */
  approved: { amount?: ApprovedAmount; rules: (BreachedRule & { by: string[] })[] };
  /** Wait before another account is looked at again. It only grows. */
  elsewhereWaitMs?: number;
  /** A create attempt has no answer yet. */
  isAttempting?: boolean;
  /** Requests for a hold whose signature is being checked. */
  readonly holdsAsked: Set<object>;
  /** When the last attempt was asked for, if its worker was lost before it sent. */
  unconfirmedAtMs?: number;
  /** Its place in the line of orders that wait for funds. `short`: what is missing. */
  funds: { isGranted?: boolean; isInLine?: boolean; short?: FundsNews & { since: string } };

  /** Callbacks. `isDue`: a look-up is needed; `firstAtMs`: time of the first unanswered one. */
  callback: { isDue: boolean; firstAtMs?: number | undefined };
  parked: Parked;
  readonly outbox: Outbox;
  decisions: DecisionRecord[];
}

/** Question and decision. `offers`: for `finish` and `revert`; `candidates`: for `adopt`. */
interface Parked {
  offers: readonly Offer[];
  candidates: readonly Candidate[];
  decision?: TakenDecision;
}

export function openRun(type: OrderType, started: RunInput): OrderRun {
  const input = withoutNulls(started);
  const request = input?.order;
  const account = input?.account ?? DEFAULT_ACCOUNT;
  return {
    type,
    input,
    account,
    request,
    phase: 'creating',
    revision: 1,
    waitingFor: 'a worker that takes the create',
    facts: openFacts(input?.resend, factsOf(type).movesMoneyAtOnce, firstDoubt(input)),
    sentTo: input?.recovered?.sentTo ?? input?.sentTo,
    strictest: input?.strictest ?? {},
    approved: { rules: [] },
    funds: {},
    lastLookUp: {},
    callback: { isDue: false },
    holdsAsked: new Set(),
    parked: { offers: [], candidates: [] },
    outbox: openOutbox(account),
    decisions: [],
  };
}

/** Returns the doubt that the input names: an earlier or a lost run may have sent. */
function firstDoubt(input: RunOptions | undefined): Doubt | undefined {
  const place = input?.accountUnknown ? 'unknown' : 'asked';
  const untilMs = workflowInfo().startTime.getTime() + SEND_TIMEOUT_MS;
  if (input?.recovered) return { cause: 'recovered', untilMs, place, said: 'the order list showed this order' };
  if (!input?.sentUntil) return undefined;
  return { cause: 'earlierRun', untilMs, place, said: 'an earlier run of this order id may have sent it' };
}

/** Returns the doubt after a reset: the earlier run may have sent, and may have an attempt in flight. */
export const doubtOfReset = (): Doubt => ({
  cause: 'reset',
  untilMs: Date.now() + CREATE_TIMEOUT_MS,
  place: 'unknown',
  said: 'the workflow was reset',
});

/** Returns the doubt after a restore of Temporal, at which a request may have been in flight. */
export function doubtOfRestore(restoredAtMs: number): Doubt {
  const untilMs = restoredAtMs + SEND_TIMEOUT_MS;
  const said = 'Temporal was restored, and an earlier create may not be shown yet';
  return { cause: 'restored', untilMs, sinceMs: untilMs, place: 'asked', said };
}

export function openReceivedRun(input: ReceivedDepositInput): OrderRun {
  return {
    ...openRun('deposit', input as unknown as RunInput),
    request: { order_id: input?.order_uuid } as CreateRequest,
    phase: 'following',
    waitingFor: 'a look-up of the order',
  };
}

export function identify(run: OrderRun, type: ReceivedType, order: Order): void {
  run.type = type;
  run.request = receivedRequest(type, order);
}

/** Returns the service's `user_order_id`, which may differ from ours once an order is known. */
export const orderIdOf = ({ order, request }: Pick<OrderRun, 'order' | 'request'>): string =>
  order?.user_order_id ?? request?.order_id;

/** Returns the run that asked for the newest answer. A change shows a reset. */
export const answeredIn = (run: Pick<OrderRun, 'answeredIn'>): string =>
  run.answeredIn ?? workflowInfo().firstExecutionRunId;

/** Records payers. Later ones that differ stay as a doubt. */
export function recordPayers(run: OrderRun, seen: Payers | undefined): void {
  if (!seen) return;
  const { first, later } = run.payers ?? { first: seen, later: seen };
  const from = seen.from === first.from ? later.from : seen.from;
  const to = seen.to === first.to ? later.to : seen.to;
  run.payers = { first, later: { from, to } };
}

export const foundAs = ({ facts: { found } }: Pick<OrderRun, 'facts'>): Ours | undefined =>
  found?.kind === 'ours' ? found : undefined;

export const isAdopted = (run: Pick<OrderRun, 'facts'>): boolean => foundAs(run)?.how === 'adopted';

/** Returns true in a run after the first one, by a reset or a retry: an earlier run may have sent. */
export const isReset = (): boolean => workflowInfo().runId !== workflowInfo().firstExecutionRunId;

/** Returns true if any run of this order id may have sent. Only ends and words may depend on it. */
export const mayHaveSent = ({ facts }: OrderRun): boolean => wasEverInDoubt(facts) || isReset();

/** Returns the words for an absent order. A wrong path gets the same answer as an unknown order. */
export const showsNone = ({ lastLookUp: { statusSaid } }: OrderRun): string =>
  `the service shows no such order${statusSaid === undefined ? '' : ` (order/status answers ${statusSaid})`}`;
