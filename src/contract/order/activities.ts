import type { AttentionCode } from '../attention.js';
import type { EventReceiver } from '../events.js';
import type { Amount } from '../money.js';
import type { Order } from '../service-objects.js';
import type { OnlyByCommand } from '../signature.js';
import type { Basis, Reading } from './basis.js';
import type { ApprovedAmount } from './messages.js';
import type { CreateRequest } from './request.js';
import type { Elsewhere, SentTo } from './sent-to.js';
import { factsOf, type OrderType } from './types.js';

/* Inputs and answers of activities. Histories contain them: add fields, never rename one. */

/** Pace of orders. Activity results bring it, so a changed setting affects no replay. */
export interface Pace {
  pollInitialMs: number;
  pollMaxMs: number;
  settleWindowMs: { atOnce: number; deposit: number };
  confirmDelayMs: number;
}

/** Returns the absence window: long for types that move money at once. */
export const windowOf = ({ settleWindowMs }: Pace, type: OrderType): number =>
  factsOf(type).movesMoneyAtOnce ? settleWindowMs.atOnce : settleWindowMs.deposit;

/** An outage is over after this many windows without a failing create: an hour by default. */
export const OUTAGE_WINDOWS = 6;

/** Limit of a create. Longer than the HTTP limit (20 s) and the attempt's deadline (50 s). */
export const CREATE_TIMEOUT_MS = 60_000;

/** One request (HTTP limit 20 s) with a margin. */
export const SEND_TIMEOUT_MS = 25_000;

/** Returns the age in ms at which an answer must show an order. */
export const visibleAfterMs = (pace: Pace, type: OrderType): number => windowOf(pace, type) / 2;

const SHORTEST_TIMER_MS = 1_000;

export const beforePollsMs = (pace: Pace | undefined): number =>
  pace && pace.pollInitialMs >= SHORTEST_TIMER_MS ? pace.pollInitialMs : 0;

/** Payers of the commissions, by rates at the create; null for a side without a commission. */
export interface Payers {
  from: string | null;
  to: string | null;
}

/** Fields of every answer besides `kind`. */
export interface Circumstances {
  pace: Pace;
  /** Account that was asked; pinned with the order at its first send. */
  sentTo: SentTo;
  payers?: Payers;
  onlyByCommand?: OnlyByCommand;
  /** Receivers of the account's events. */
  receivers?: readonly EventReceiver[];
  /** Temporal was restored then, and may have forgotten a create. */
  restoredAtMs?: number;
  /** Run that asked. After a reset, answers of the earlier run stay in the history. */
  runId?: string;
}

/** Word that a create attempt leaves at the server: that it has not sent, or where it sends. */
export type StoredByAttempt = { unsent: true } | Pick<Circumstances, 'sentTo'>;

/** 'first': this run sent nothing. 'absent': an earlier create is proven absent. */
export type SendPermission = 'first' | 'absent' | 'none';

export interface CreateOrderInput {
  type: OrderType;
  account: string;
  /** The whole workflow input, validated by the activity. */
  input: unknown;
  /** Differs from the activity's own run id after a reset. */
  firstExecutionRunId: string;
  permission: SendPermission;
  /** Run that read absence. In another run it proves nothing. */
  provenIn?: string;
  sentTo?: SentTo;
  /** The amount above the cap that an operator approved last. */
  approved?: ApprovedAmount;
  /** Start of the run by the server's clock, from which `delay_order_for_minutes` counts. */
  startedAtMs: number;
  /** An operator permits the send although the delay has passed. */
  late?: true;
  /** Lowest caps of earlier attempts, by currency. */
  caps?: Record<string, string>;
  /** The order has its funds, or an operator sends it although they are short. */
  funded?: true;
  /** Rules of the policy that enough persons approved for it. */
  approvedRules?: BreachedRule[];
  /** A follow-up whose parent workflow is the order it extends. */
  followUp?: boolean;
}

/**
 * Rule that an order breaches, and the number of persons who must approve it. An approval covers
 * these `terms` of the rule up to `amount`.
 */
export interface BreachedRule {
  rule: string;
  approvers: number;
  terms: string;
  /** Amount of the order itself: what the rule sums, else what leaves the balance. */
  amount?: Amount | undefined;
}

/** Several orders under one order id. `ours`: those that match our request. */
export interface DuplicateOrders {
  orderUuids: string[];
  ours: string[];
}

/**
 * Result of a create attempt. `soft`: fields in another form; `differences`: fields of another
 * payment; `aboveCap`: why the amount is above cap and approval.
 */
export type CreateVerdict =
  /** `sentAtMs`: by the worker's clock. */
  | { kind: 'accepted'; order: Order; sentAtMs?: number; soft?: string[]; aboveCap?: string }
  | { kind: 'adopted'; order: Order; soft?: string[]; aboveCap?: string }
  | { kind: 'conflict'; order: Order; differences: string[] }
  | ({ kind: 'duplicates' } & DuplicateOrders)
  /** `stopped`: the account is stopped. The order waits for the resume. */
  | { kind: 'notSent'; reason: string; stopped?: true }
  | { kind: 'rateLimited'; retryAfterMs: number }
  /** `excerpt`: the service's answer, masked. */
  | { kind: 'rejected'; excerpt?: string }
  | ({ kind: 'overCap'; reason: string } & ApprovedAmount)
  /** Rules of the policy that it breaches, with the persons that each needs. */
  | { kind: 'policy'; reason: string; rules: BreachedRule[] }
  /** Nothing was sent: the order needs this amount, and `whenShort` says to ask or wait. */
  | ({ kind: 'short'; reason: string } & Required<ApprovedAmount>)
  /** Nothing was sent: the basis of a follow-up has changed, or the latest send time is over. */
  | { kind: 'stale'; reason: string }
  /**
   * `reset`: an attempt of the earlier run may be in flight. `retryAfterMs`: "too many requests",
   * so a re-send is free. `named`: the order of a 200, under our id or like ours but for its id.
   */
  | { kind: 'uncertain'; reason: string; reset?: true; timedOut?: true; retryAfterMs?: number; named?: NamedOrder };

/** Answer of the create activity. `notes`: skipped checks; `caps`: limits of the next attempt. */
export type CreateAnswer = Circumstances & CreateVerdict & { notes?: string[]; caps?: Record<string, string> };

/** Order that the service named for our create, and the fields in which it differs. */
interface NamedOrder {
  order: Order;
  differences: string[];
}

export interface LookUpInput {
  type: OrderType;
  account: string;
  request: CreateRequest;
  orderUuid?: string;
  /** The order was seen before: an answer without it is no reading. */
  known?: true;
  /** Account of the order; another one's answer is no reading. */
  sentTo?: SentTo;
  approved?: ApprovedAmount;
  /** `why` of the last answer. While it holds, the server asks again. */
  told?: string;
  /** Wait of the first attempt, which asks nothing. Writes no history. */
  delayMs?: number;
  /** Latest time of a possible create. Absence needs orders that the service must show. */
  sentUntilMs?: number;
  /** Answers only once the service shows a later order or, with 'whole', all that it confirmed. */
  awaits?: 'later' | 'whole';
  /** Beside `awaits`: also answers after this time, twice as long if one is known. */
  forMs?: number;
  /** Another run may have sent: orders that were named for it are looked up, too. */
  asksOtherRuns?: true;
  /** When the last attempt was asked for, if its worker was lost before it sent. */
  unconfirmedAtMs?: number;
}

/**
 * How reliable an answer without our order is. `whole`: it shows the orders that the service
 * confirmed. `later`: one of them was sent after ours; false: a deposit, and no order is known that
 * it has to show; never true unless `whole`. `othersFail`: creates of other orders fail.
 */
export interface Control {
  whole: boolean;
  later?: boolean;
  othersFail?: true;
}

/** Result of a look-up. `differences`: hard ones; `soft`: fields in another form. */
export type LookUpReading =
  | { kind: 'found'; order: Order; differences: string[]; soft?: string[]; aboveCap?: string }
  | ({ kind: 'duplicates' } & DuplicateOrders)
  /** `said`: answer of the status operation, for operators. */
  | { kind: 'absent'; said?: string; control?: Control };

/** `calledBack`: a callback after the end of another run named an order that is not shown. */
export type LookUpAnswer = Partial<Circumstances> & LookUpReading & { readAtMs: number; calledBack?: true };
/** Answer without a reading: the worker may ask another account. Given once for each reason. */
export type ElsewhereAnswer = { kind: 'elsewhere' } & Elsewhere;

/** Returns true if that run may send by this input: a reset ends earlier permissions. */
export const maySend = ({ permission, firstExecutionRunId, provenIn }: CreateOrderInput, runId?: string): boolean =>
  permission !== 'none' && (permission === 'first' ? firstExecutionRunId : (provenIn ?? runId)) === runId;

export interface PollInput {
  account: string;
  orderId: string;
  /** Absent only for a follow-up of another run. */
  orderUuid?: string;
  sentTo?: SentTo;
  /** An undocumented status was reported. */
  tolerateAll?: boolean;
  /** 'untold': answers `silent` after ATTENTION_AFTER_MS. 'told': answers with the first reading. */
  silence?: 'untold' | 'told';
}

/** No reading for long. `elsewhere`: another account; `keyRefused`: the service's answer. */
export type Silent = { silent: true; elsewhere?: true; keyRefused?: string };

export type PollAnswer = Order | Silent;

export interface WhySilentInput {
  account: string;
  orderId?: string;
  orderUuid?: string;
}

/** `said`: answer of another read. `turn`: that read did not get its turn either. */
export interface WhySilentAnswer {
  code: Extract<AttentionCode, 'service-down' | 'key-refused' | 'service-silent'>;
  said?: string;
  turn?: Turn;
}

export interface TurnInput {
  account: string;
  taskQueue: string;
  priority: number;
}

/** Place in line: tasks before it, expected wait, and the worker's limit. */
export interface Turn {
  before: number;
  aboutMs: number;
  requestsPerSecond?: number;
}

/** Two views of a final order that must agree before money moves. */
export interface OutcomeReading extends Reading {
  /** Run that asked. */
  runId?: string;
  /** Follow-ups of a lost run, as they are shown. */
  followUpBases?: Basis[];
  /** The order list shows an unreadable item, which may be another of them. */
  unreadFollowUps?: true;
  /** After a restore, a follow-up may exist that is not shown yet. */
  isTooSoon?: true;
}

export type OutcomeAnswer = OutcomeReading | { elsewhere: true };

export type ReadOutcomeInput = Pick<PollInput, 'account' | 'orderId' | 'sentTo'> & {
  orderUuid: string;
  /** Order whose follow-ups are looked for, the known ones, and those that came to no order. */
  followUps?: { of: string; known: string[]; ended?: string[] };
};

export interface CheckFollowUpInput extends Pick<LookUpInput, 'account' | 'type' | 'request'> {
  order: Pick<LookUpInput, 'type' | 'request'>;
}

/** 'belowMinimum' lasts, 'refused' may pass. `orderPayers`: of the order. `runId`: it asked. */
export type FollowUpCheck = { orderPayers?: Payers; runId?: string } & (
  | { kind: 'ok'; payers?: Payers }
  | { kind: 'belowMinimum'; reason: string }
  | { kind: 'refused'; reason: string; payers?: Payers }
);
