import type { Decision, OrderState } from '../../shapes/order-schemas.js';
import type { OrderCheck } from '../../shapes/read-schemas.js';
import type { OptionShapes } from '../../validation/input-schemas.js';
import type { Amount } from '../money.js';

export type {
  Attention,
  CallbackHint,
  Decision,
  DecisionChoice,
  DecisionRecord,
  OrderState,
  Remainder,
  ToKnow,
} from '../../shapes/order-schemas.js';

/** Target of a refund, which never goes to `wallet_from`. */
export type RevertTarget = NonNullable<OptionShapes['revertTo']>;

/** Caller's own reference and metadata, as the start gave them. */
export type CallerMarks = Pick<OptionShapes, 'reference' | 'metadata'>;

/** Minutes without an answer of the service after which attention is raised. */
export const ATTENTION_AFTER_MIN = 15;
export const ATTENTION_AFTER_MS = ATTENTION_AFTER_MIN * 60_000;

/** Limit of an approval above a cap. Without `amount`, rates cannot estimate it. */
export interface ApprovedAmount {
  amount?: Amount;
  currency: string;
}

/** Phase of an order. 'parked' waits for an operator; 'done' is closed or about to close. */
export type OrderPhase = OrderState['phase'];

/** All actions of decisions on parked orders. */
export const DECIDE_ACTIONS = [
  'adopt',
  'resend',
  'close-absent',
  'finish',
  'revert',
  'accept',
  'approve',
  'release',
  'refuse',
] as const;

/** Action of a decision on a parked order. */
export type DecideAction = (typeof DECIDE_ACTIONS)[number];

/** A decision that was accepted, with the key that signed it. */
export interface TakenDecision extends Omit<Decision, 'signature'> {
  keyId?: string;
}

export type { CurrencyAmount, LeavingAmount, OrderCheck, OrderFindings } from '../../shapes/read-schemas.js';

/** State of an order's id. `fields` differ; `reason`: why a start would send nothing. */
export interface IdCheck<State extends string> extends Omit<NonNullable<OrderCheck['id']>, 'state'> {
  state: State | 'unknown';
}
