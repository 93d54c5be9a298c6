import type { BatchInput } from '../../validation/input-schemas.js';
import type { AttentionCode } from '../attention.js';
import type { EventReceiver } from '../events.js';
import { maskName } from '../masking.js';
import type { Amount } from '../money.js';
import type { CompensationPolicy } from '../order/input-and-result.js';
import type { OnlyByCommand, Signature } from '../signature.js';

/** Default of open orders of one batch. */
export const DEFAULT_IN_FLIGHT = 100;
/** Currencies of one batch; payloads of plan and progress may not exceed 100 KB. */
export const MAX_CURRENCIES = 50;
/** Longest batch input as JSON, because every step writes it into the history. */
export const MAX_INLINE_BYTES = 50_000;

/** Bytes of a batch input as JSON in UTF-8. */
export const inlineBytes = (input: BatchInput): number => new TextEncoder().encode(JSON.stringify(input)).length;

export type { BatchInput, ScheduledBatchInput } from '../../validation/input-schemas.js';

/** A file below BATCH_DIR: relative `path`, and `sha256` (hex) of its bytes. */
export type BatchFile = NonNullable<BatchInput['file']>;

export type AmountsByCurrency = Record<string, Amount>;

/** Shown before an approval; `rows` are lines. */
export interface BatchWarning {
  rows: number[];
  reason: string;
}

/** Effect on one currency's balance. Fees are estimates from rates, null if unknown. */
export interface CurrencyPlan {
  currency: string;
  rows: number;
  total: Amount;
  /** All commissions. */
  fee: Amount | null;
  /** The part that the balance pays beside the amounts. */
  feeOnTop: Amount | null;
  /** Null if unreadable. `balanceAfter` = before − total − known feeOnTop. */
  balanceBefore: Amount | null;
  balanceAfter: Amount | null;
  shortfall?: Amount;
}

/** Effect of a batch. `digest` (hex sha256) covers all other fields, so an approval is exact. */
export interface BatchPlan {
  account: string;
  batchId: string;
  /** Hash of the file's bytes or the inline rows. */
  sha256: string;
  rows: number;
  /** Hash (hex) of the orders in those bytes. */
  orders: string;
  currencies: CurrencyPlan[];
  /** At most 50, and the number of all. */
  warnings: BatchWarning[];
  warningCount: number;
  compensation: CompensationPolicy | null;
  resend: 'once' | 'never';
  again: boolean;
  /** Conditions that end it early. */
  latestSend?: string;
  stopAfter?: BatchInput['stopAfter'];
  /** Receivers of events; not approved with it. */
  receivers?: readonly EventReceiver[];
  onlyByCommand?: OnlyByCommand;
  digest: string;
}

/** Counts of a batch none of whose rows has ended. */
export const NONE_ENDED = {
  completed: 0,
  completed_partially: 0,
  canceled: 0,
  error: 0,
  /** No order exists. */
  refused: 0,
  /** The id belongs to another order. */
  conflict: 0,
  /** An operator should look: its order may exist, or is still open at the report. */
  parked: 0,
};

/** Ends of the rows; `notStarted` is known at the end only. */
export type BatchOutcomes = Record<keyof typeof NONE_ENDED | 'notStarted', number>;

/** A row with an open order; `row` counts from 1. */
export interface OpenRow {
  row: number;
  orderId: string;
}

/** Progress of a batch; small, whatever the number of rows. */
export interface BatchProgress {
  /** Rows taken so far. */
  taken: number;
  /** Amounts of those rows, never above the plan's totals. */
  asked?: AmountsByCurrency;
  started: number;
  open: OpenRow[];
  outcomes: typeof NONE_ENDED;
  /** Paid out, by the orders' `amount_to`. */
  moved: AmountsByCurrency;
  /** No more rows will be taken. */
  exhausted: boolean;
  /** The last rows that were parked with an unknown outcome. */
  unsettled: number[];
  /** Open rows with an uncertain create. */
  uncertain?: number[];
  /** Why an operator should look, such as a terminated order workflow. */
  attention?: string;
  /** Why nothing is sent for now; it continues by itself. */
  held?: string;
}

/** Returns true for a progress; heartbeats of other activities reach the same workflow. */
export const isProgress = (value: unknown): value is BatchProgress =>
  typeof value === 'object' && value !== null && 'taken' in value && 'open' in value && 'outcomes' in value;

/** `by` of a batch's own pause or stop. */
export const BY_ITSELF = 'the batch itself';

/** Phase of a batch. 'paused' sends nothing; 'following' waits for started orders. */
export type BatchPhase = 'checking' | 'awaitingApproval' | 'sending' | 'paused' | 'following' | 'reporting' | 'done';

/** Answer of the `batchState` query. */
export interface BatchState {
  phase: BatchPhase;
  batchId: string;
  waitingFor: string;
  startedBy: string;
  plan?: BatchPlan;
  progress: BatchProgress;
  /** ISO time of the first row's start. */
  sendingSince?: string;
  approvedBy?: string;
  /** Signed approvals; two approve the batch. */
  approvals?: SignedApproval[];
  paused?: BatchInterruption;
  stopped?: BatchInterruption;
  attention?: string;
  attentionCode?: AttentionCode;
  choices: BatchChoice[];
}

/** A report: `path` below REPORT_DIR, hash (hex) of its bytes. */
export interface ReportFile {
  path: string;
  sha256: string;
}

/** Result of the `bulkWithdraw` workflow. With `planOnly` nothing was started. */
export interface BatchResult extends Pick<BatchPlan, 'batchId' | 'digest' | 'rows'> {
  started: number;
  outcomes: BatchOutcomes;
  moved: AmountsByCurrency;
  /** Rows whose orders existed before this batch, and what they paid. */
  before?: { rows: number; moved: AmountsByCurrency };
  /** Absent without REPORT_DIR. */
  report?: ReportFile;
  /** Rows without an order, to correct and send with `again`. */
  rejected?: ReportFile;
  plan: BatchPlan;
  stopped?: BatchInterruption;
}

/** Argument of the `approve` update. `by` must differ from `startedBy`. */
export interface BatchApproval {
  digest: string;
  by: string;
  /** Temporal's run id; the library sets it. */
  runId?: string;
  /** Required by accounts of APPROVERS_FILE. */
  signature?: Signature;
}

export interface SignedApproval {
  by: string;
  keyId: string;
}

/** Argument of the `pause`, `resume` and `stop` updates. */
export interface BatchInstruction {
  by: string;
  reason: string;
  /** Set for a `resume`: `paused.at` of its pause. The library sets it. */
  pausedAt?: string;
  /** Set for a `resume`: Temporal's run id. The library sets it. */
  runId?: string;
  /** Set for a `resume`: accounts in APPROVERS_FILE require it. */
  signature?: Signature;
}

export interface BatchChoice {
  update: 'approve' | 'resume' | 'stop';
  does: string;
  /** Argument of the update. The update refuses its placeholders `by` and `reason`. */
  argument: BatchApproval | BatchInstruction;
  onlyByCommand?: OnlyByCommand;
}

/** Who paused or stopped a batch, why and when (ISO time). */
export interface BatchInterruption extends Pick<BatchInstruction, 'by' | 'reason'> {
  at: string;
}

/** Returns who paused or stopped a batch, and why, with masked names and reasons. */
export const shownInterruption = ({ by, reason }: BatchInstruction): BatchInstruction =>
  // Its own reasons hold figures, which masking would hide.
  by === BY_ITSELF ? { by, reason } : { by: maskName(by), reason: maskName(reason) };

/** Failure type of a batch that nobody approved in time. Nothing was sent. */
export const BATCH_NOT_APPROVED = 'BatchNotApproved';
/** Failure type of a file that is missing, still grows or differs from its plan. */
export const BATCH_FILE_UNUSABLE = 'BatchFileUnusable';

/** Failure type of a batch that was stopped before its plan. Nothing was sent. */
export const BATCH_STOPPED = 'BatchStopped';

/** Failure type of a batch whose sends are unknown, for example after a termination. */
export const BATCH_UNRESOLVED = 'BatchUnresolved';

/** Failure type of a scheduled batch with rows that have no order. Its details hold the result. */
export const BATCH_INCOMPLETE = 'BatchIncomplete';

/** Query and updates of a batch. Updates return nothing. */
export const BATCH_MESSAGES = {
  state: 'batchState',
  approve: 'approve',
  pause: 'pause',
  resume: 'resume',
  stop: 'stop',
} as const;
