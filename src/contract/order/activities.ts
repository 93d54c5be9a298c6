import type { AttentionCode } from '../attention.js';
import type { BalanceChange, Order } from '../service-objects.js';
import type { OnlyByCommand } from '../signature.js';
import type { Basis } from './basis.js';
import type { ApprovedAmount } from './messages.js';
import type { CreateRequest } from './request.js';
import type { Elsewhere, SentTo } from './sent-to.js';
import { factsOf, type OrderType } from './types.js';

/** What activities take and answer. It lives in histories: fields may be added, never renamed. */

/** How orders are paced. Only activity results bring it: a changed setting never changes what a replay decides. */
export interface Pace {
  /** First wait of the status polling. */
  pollInitialMs: number;
  /** Longest wait between two status polls. */
  pollMaxMs: number;
  /** How long absence must last after an uncertain create: types that move money at once, and deposit types. */
  settleWindowMs: { atOnce: number; deposit: number };
  /** Time between the two readings that must agree before a compensation moves money. */
  confirmDelayMs: number;
}

/** How long absence of an order of this type must last: payments get a long window, deposit types (nothing moves at create) a short one. */
export const windowOf = ({ settleWindowMs }: Pace, type: OrderType): number =>
  factsOf(type).movesMoneyAtOnce ? settleWindowMs.atOnce : settleWindowMs.deposit;

/** How old an order must be before an answer has to show it, in ms: a part of what the service may be behind. */
export const visibleAfterMs = (pace: Pace, type: OrderType): number => windowOf(pace, type) / 2;

/** A shorter first wait is not worth a timer and its workflow task: asking too early costs less. */
const SHORTEST_TIMER_MS = 1_000;

/** What a workflow waits before the first poll, as the first wait of the polling; 0: it polls at once. */
export const beforePollsMs = (pace: Pace | undefined): number =>
  pace && pace.pollInitialMs >= SHORTEST_TIMER_MS ? pace.pollInitialMs : 0;

/** Who pays a commission, from rates when the order was created; null where that side has none. */
export interface Payers {
  from: string | null;
  to: string | null;
}

/** What every answer tells besides its `kind`. */
export interface Circumstances {
  pace: Pace;
  /** What was asked or sent to; pinned with the order at its first send. */
  sentTo: SentTo;
  /** Absent when rates were not to be had. */
  payers?: Payers;
  onlyByCommand?: OnlyByCommand;
  /** Temporal was restored then, less than a settle window ago: it may have forgotten a create that the service does not show yet. */
  restoredAtMs?: number;
  /** Run of the workflow that asked: answers of an earlier run stay in the history of one that was reset. */
  runId?: string;
}

/** 'first': this run sent nothing. 'absent': an earlier create is proven absent. 'none': only look, it may be there. */
export type SendPermission = 'first' | 'absent' | 'none';

/** One attempt to create an order. */
export interface CreateOrderInput {
  type: OrderType;
  account: string;
  /** The whole workflow input, validated inside: starts may come from anywhere. */
  input: unknown;
  /** Differs from the activity's own run id in a run that was reset. */
  firstExecutionRunId: string;
  permission: SendPermission;
  /** Run that read the absence behind 'absent'. In any other run it proves nothing: that one may have sent since. */
  provenIn?: string;
  /** What an earlier attempt was sent to, or the order that a follow-up extends; this one is sent nowhere else. */
  sentTo?: SentTo;
  /** The amount above the cap that an operator approved last. */
  approved?: ApprovedAmount;
  /** When the run started, by the server's clock: `delay_order_for_minutes` counts from then. */
  startedAtMs: number;
  /** A person permitted to send it although its delay has passed. */
  late?: true;
  /** Lowest caps on its currencies that earlier attempts were given. */
  caps?: Record<string, string>;
  /** A follow-up whose parent workflow is the order it extends. */
  followUp?: boolean;
}

/** Several orders under one order id; `ours`: those of them that are what we asked for. */
export interface DuplicateOrders {
  orderUuids: string[];
  ours: string[];
}

/**
 * What became of a create attempt. `soft`: fields in another form; `differences`: fields of another payment; `aboveCap`: why
 * the order comes to more than cap and approval allow.
 */
export type CreateVerdict =
  | { kind: 'accepted'; order: Order; soft?: string[]; aboveCap?: string }
  | { kind: 'adopted'; order: Order; soft?: string[]; aboveCap?: string }
  | { kind: 'conflict'; order: Order; differences: string[] }
  | ({ kind: 'duplicates' } & DuplicateOrders)
  | { kind: 'notSent'; reason: string }
  /** Nothing was sent or executed: met by the probe, or by a create where the operator may rely on that. */
  | { kind: 'rateLimited'; retryAfterMs: number }
  /** `excerpt`: what the service said, masked. */
  | { kind: 'rejected'; excerpt?: string }
  | ({ kind: 'overCap'; reason: string } & ApprovedAmount)
  /** Nothing was sent: what a follow-up was made for has changed, or the latest send time is over. */
  | { kind: 'stale'; reason: string }
  /**
   * `reset`: nothing was sent now, but an attempt of the run this one was cut from may still be on its way. `retryAfterMs`:
   * the service answered "too many requests", which proves nothing, but once absence is proven costs no re-send. `underOtherId`:
   * the service answered with our order under another form of its id.
   */
  | {
      kind: 'uncertain';
      reason: string;
      reset?: true;
      timedOut?: true;
      retryAfterMs?: number;
      underOtherId?: Order;
    };

/** Answer of the create activity. `notes`: skipped checks; `caps`: they hold for the next attempt. */
export type CreateAnswer = Circumstances & CreateVerdict & { notes?: string[]; caps?: Record<string, string> };

/** One signed look-up; by `orderUuid` once it is known, by order id through list and status before. */
export interface LookUpInput {
  type: OrderType;
  account: string;
  request: CreateRequest;
  orderUuid?: string;
  /** It was seen before: what shows its `orderUuid` proves the account by itself, what shows none is no reading. */
  known?: true;
  /** What the order was sent to; an answer of another account is no reading. */
  sentTo?: SentTo;
  /** As in CreateOrderInput: an order that comes to more is reported. */
  approved?: ApprovedAmount;
  /** The `why` that was answered last: while it holds, nothing is answered and the server asks again. */
  told?: string;
  /** Wait of the first attempt, which then asks nothing: waiting this way writes no history. */
  delayMs?: number;
  /** Until then a create of the order may have been sent: absence is read with orders that must be shown beside it. */
  sentUntilMs?: number;
  /** Nothing is answered before the service has accepted an order that was sent later. */
  awaitsLater?: true;
}

/**
 * How far an answer without our order can be believed. `whole`: it shows the orders that the service confirmed. `later`: among
 * them is one that was sent after ours, with an id of the same form. `othersFail`: creates of other orders get no clear answer.
 */
export interface Control {
  whole: boolean;
  later?: true;
  othersFail?: true;
}

/** What a look-up read. `differences`: hard ones of the echo check, without any it is ours; `soft`: of form. */
export type LookUpReading =
  | { kind: 'found'; order: Order; differences: string[]; soft?: string[]; aboveCap?: string }
  | ({ kind: 'duplicates' } & DuplicateOrders)
  /** `said`: how the status operation shows no order, for people; a wrong path may answer in the same way. */
  | { kind: 'absent'; said?: string; control?: Control };

/**
 * Answer of the look-up activity. `readAtMs`: when it read this, on the clock of its worker. Of a known order the workflow has the
 * circumstances already: only who pays the commissions is told again.
 */
export type LookUpAnswer = Partial<Circumstances> & LookUpReading & { readAtMs: number };

/** What a look-up answers, once for each reason, where it cannot show that it asks the account of the order. No reading. */
export type ElsewhereAnswer = { kind: 'elsewhere' } & Elsewhere;

/** Polls the status until it is final. */
export interface PollInput {
  account: string;
  orderId: string;
  /** Absent only for a follow-up that another run started. */
  orderUuid?: string;
  sentTo?: SentTo;
  /** Statuses outside the documentation that were reported already. */
  toleratedStatuses: string[];
  /** So many were reported that all others are tolerated, too. */
  tolerateAll?: boolean;
  /** 'untold': answer `silent` after ATTENTION_AFTER_MS without a reading. 'told': answer with the first reading. */
  silence?: 'untold' | 'told';
}

/**
 * No reading for long; `elsewhere`: because the account asked is not shown to be the order's.
 * `keyRefused`: what the service answered, at once, since it refuses the account's key.
 */
export type Silent = { silent: true; elsewhere?: true; keyRefused?: string };

/** What a poll answers. */
export type PollAnswer = Order | Silent;

/** Asks why there is no clear answer: about the order, or where none is named about anything. */
export interface WhySilentInput {
  account: string;
  orderId?: string;
  orderUuid?: string;
}

/**
 * `said`: what one more read met; without it the service answers that. `turn`: not even that read
 * got its turn in time.
 */
export interface WhySilentAnswer {
  code: Extract<AttentionCode, 'service-down' | 'key-refused' | 'service-silent'>;
  said?: string;
  turn?: Turn;
}

/** Asks whether a task, of that priority on that queue of the account, only waits for its turn. */
export interface TurnInput {
  account: string;
  taskQueue: string;
  priority: number;
}

/**
 * A worker serves the account: about so many tasks go first, for about so long.
 * `requestsPerSecond`: the worker's limit.
 */
export interface Turn {
  before: number;
  aboutMs: number;
  requestsPerSecond?: number;
}

/** Two views of a final order that must agree before money moves. */
export interface OutcomeReading {
  order: Order;
  /** From the order list. */
  changes: BalanceChange[];
  /** Fields in which status and list item differ. */
  disagreements: string[];
  /** Ids of follow-ups that exist and were not known to whoever asked: a run that Temporal lost has sent them. */
  followUps?: string[];
  /** What each of those shows. */
  followUpBases?: Basis[];
  /** The order list shows something beside the order that cannot be read for long: it may be another of them. */
  unreadFollowUps?: true;
}

/** `elsewhere`: the account asked is not shown to be the order's, and does not show the order. */
export type OutcomeAnswer = OutcomeReading | { elsewhere: true };

/** Asks for status and list item of a final order. */
export type ReadOutcomeInput = Pick<PollInput, 'account' | 'orderId' | 'sentTo'> & {
  orderUuid: string;
  /** Of the order that follow-ups extend: by which id, and those that are known. Absent = they are not looked for. */
  followUps?: { of: string; known: string[] };
};

/** Asks whether a follow-up fits limits, precision and balance now. */
export interface CheckFollowUpInput extends Pick<LookUpInput, 'account' | 'type' | 'request'> {
  /** The order that it follows up. */
  order: Pick<LookUpInput, 'type' | 'request'>;
}

/** 'belowMinimum' lasts, 'refused' needs a person. `payers`: of the follow-up; `orderPayers`: of the order, now. */
export type FollowUpCheck = { orderPayers?: Payers } & (
  | { kind: 'ok'; payers?: Payers }
  | { kind: 'belowMinimum'; reason: string }
  | { kind: 'refused'; reason: string; payers?: Payers }
);
