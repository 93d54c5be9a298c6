import type { OptionShapes } from '../../validation/input-schemas.js';
import type { AttentionCode } from '../attention.js';
import type { Amount } from '../money.js';
import type { Order } from '../service-objects.js';
import type { OnlyByCommand, Signature } from '../signature.js';
import type { CardPart, WalletDetails } from './request.js';
import type { FollowUpType } from './types.js';

/** Target of a refund, which never goes to `wallet_from`. */
export type RevertTarget = NonNullable<OptionShapes['revertTo']>;

/** Part of an order that stayed on the balance: not exchanged, or not paid out. */
export interface Remainder {
  kind: 'unexchanged' | 'unpaid';
  currency: string;
  amount: Amount;
}

/** Argument of the `orderCallback` signal: a claim, which only wakes the workflow. */
export interface CallbackHint {
  order_uuid?: string;
  status?: string;
}

/** Minutes without an answer of the service after which attention is raised. */
export const ATTENTION_AFTER_MIN = 15;
export const ATTENTION_AFTER_MS = ATTENTION_AFTER_MIN * 60_000;

/** Limit of an approval above a cap. Without `amount`, rates cannot estimate it. */
export interface ApprovedAmount {
  amount?: Amount;
  currency: string;
}

/** Phase of an order. 'parked' waits for an operator; 'done' is closed or about to close. */
export type OrderPhase = 'creating' | 'uncertain' | 'following' | 'compensating' | 'parked' | 'done';

/**
 * Why an operator should look, since when (ISO time), and the possible decisions. Above a cap,
 * `amount` and `currency` are to be approved.
 */
export interface Attention extends Partial<ApprovedAmount> {
  code: AttentionCode;
  reason: string;
  since: string;
  allowed: DecideAction[];
}

/** Caller's own reference and metadata, as the start gave them. */
export type CallerMarks = Pick<OptionShapes, 'reference' | 'metadata'>;

/** Answer of `orderState`. `revision` grows by 1 with every change of phase or attention. */
export interface OrderState extends CallerMarks {
  phase: OrderPhase;
  revision: number;
  /** Temporal's run id. After a reset, another run may have the same revisions. */
  runId: string;
  /** The service's last known status; null without a known order. */
  status: string | null;
  order: Order | null;
  waitingFor: string;
  attention?: Attention;
  /** It was cancelled after a send: it is followed, and moves no more money without a decision. */
  cancelRequested?: true;
  decisions: DecisionChoice[];
  onlyByCommand?: OnlyByCommand;
  lastLookupAt: string | null;
}

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

export type DecideAction = (typeof DECIDE_ACTIONS)[number];

/**
 * Argument of the `decide` update, with `revision` and `runId` of `orderState`. `differences`:
 * exactly the fields that differ of an adopted order. `kind`, `as`, `revertTo` and
 * `wallet_details`: how to `finish` or `revert`.
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
  /** Over all other fields; required by accounts of APPROVERS_FILE. */
  signature?: Signature;
}

export interface DecisionChoice {
  does: string;
  amount?: Amount;
  currency?: string;
  needs?: 'order_uuid' | 'revertTo' | 'wallet_details';
  /** Why it must be read, and never decided together with others. */
  alone?: string;
  /** Argument of the `decide` update. Its placeholders `by` and `reason` are refused. */
  decision: Decision;
}

/** A decision that was accepted, with the key that signed it. */
export interface TakenDecision extends Omit<Decision, 'signature'> {
  keyId?: string;
}

/** A decision in the result. `at`: ISO time; `kind` and `as`: the choice; wallets are masked. */
export interface DecisionRecord extends Omit<TakenDecision, 'revertTo' | 'wallet_details'> {
  at: string;
  revertTo?: Pick<RevertTarget, 'network' | 'wallet'>;
  wallet_details?: CardPart[];
}
