import type { AttentionCode } from '../attention.js';
import type { Amount } from '../money.js';
import type { Order } from '../service-objects.js';
import type { OnlyByCommand, Signature } from '../signature.js';
import type { Remainder, RevertTarget } from './input-and-result.js';
import type { CardPart, WalletDetails } from './request.js';
import type { FollowUpType } from './types.js';

/** Argument of the `orderCallback` signal: what a callback claimed. Only wakes the workflow up. */
export interface CallbackHint {
  order_uuid?: string;
  status?: string;
}

/** After so many minutes without an answer of the service a person is told. What waits for it goes on. */
export const ATTENTION_AFTER_MIN = 15;
/** The same in milliseconds. */
export const ATTENTION_AFTER_MS = ATTENTION_AFTER_MIN * 60_000;

/** What an approval above a cap covers: up to `amount`. Without `amount`, what the rates cannot estimate. */
export interface ApprovedAmount {
  amount?: Amount;
  currency: string;
}

/** Where an order stands. 'parked' waits for a person; 'done' is closed or about to close. */
export type OrderPhase = 'creating' | 'uncertain' | 'following' | 'compensating' | 'parked' | 'done';

/**
 * Why a person should look, since when (ISO time), and what may be decided now (empty: nothing, just look). Above a cap,
 * `amount` and `currency` are what is to be approved.
 */
export interface Attention extends Partial<ApprovedAmount> {
  /** As lists show it. */
  code: AttentionCode;
  reason: string;
  since: string;
  allowed: DecideAction[];
}

/** Answer of the `orderState` query. `revision` grows by 1 with every change of phase or attention, in this run. */
export interface OrderState {
  phase: OrderPhase;
  revision: number;
  /** Temporal's id of the run. A reset makes another one, whose revisions may be the same. */
  runId: string;
  /** The service's last known status; null before the order is known to exist. */
  status: string | null;
  order: Order | null;
  /** What the order waits for, in words, such as `the final status, by callback or by polling`. */
  waitingFor: string;
  attention?: Attention;
  /** It was cancelled: what was sent is followed, and what would move money again waits for a person. */
  cancelRequested?: true;
  /** Every decision that would be taken now; empty where nothing is to be decided. */
  decisions: DecisionChoice[];
  /** As a worker of the account said last. */
  onlyByCommand?: OnlyByCommand;
  /** ISO time of the last answered look-up. */
  lastLookupAt: string | null;
}

/** What a person may decide on a parked order. */
export const DECIDE_ACTIONS = [
  'adopt',
  'resend',
  'close-absent',
  'finish',
  'revert',
  'accept',
  'approve',
  'refuse',
] as const;

/** One of the decide actions. */
export type DecideAction = (typeof DECIDE_ACTIONS)[number];

/**
 * Argument of the `decide` update. `revision` and `runId` are those the person saw in `orderState`; stale ones are refused.
 * `differences`: the fields in spite of which an order is adopted, exactly those that differ. `kind`, `as`, `revertTo` and
 * `wallet_details` (the cards of a payout to several) say how to `finish` or `revert`. `amount` and `currency` of an
 * `approve` are those that `orderState` shows: more needs another approval.
 */
export interface Decision extends Partial<ApprovedAmount> {
  action: DecideAction;
  by: string;
  reason: string;
  revision: number;
  runId?: string;
  order_uuid?: string;
  differences?: string[];
  kind?: Remainder['kind'];
  as?: FollowUpType;
  revertTo?: RevertTarget;
  wallet_details?: WalletDetails;
  /** Over all the others; accounts of APPROVERS_FILE take nothing without. */
  signature?: Signature;
}

/** A decision that can be made now. */
export interface DecisionChoice {
  /** What it does, for people. */
  does: string;
  /** Of a way to finish or revert, and of an approval: how much it may move. */
  amount?: Amount;
  currency?: string;
  /** What a person has to add to it first; absent where it is taken as it stands, but for `by` and `reason`. */
  needs?: 'order_uuid' | 'revertTo' | 'wallet_details';
  /** Why a person who decides it has to read this very order: it is never decided together with others. */
  alone?: string;
  /** What the `decide` update takes. `by` and `reason` are placeholders, which it refuses. */
  decision: Decision;
}

/** A decision that was taken; `keyId`: of the key that signed it, where the account asks for that. */
export interface TakenDecision extends Omit<Decision, 'signature'> {
  keyId?: string;
}

/** A decision in the result: `at` is an ISO time, `kind` and `as` are what was chosen, wallets are masked. */
export interface DecisionRecord extends Omit<TakenDecision, 'revertTo' | 'wallet_details'> {
  at: string;
  revertTo?: Pick<RevertTarget, 'network' | 'wallet'>;
  wallet_details?: CardPart[];
}
