import type { BatchShape, ScheduledBatchShape } from '../../validation/batch-input.js';
import type { AttentionCode } from '../attention.js';
import { maskName } from '../masking.js';
import type { Amount } from '../money.js';
import type { CompensationPolicy } from '../order/input-and-result.js';
import type { OnlyByCommand, Signature } from '../signature.js';

/** Rows that may be given inline instead of in a file. */
export const MAX_INLINE_ROWS = 200;
/** Orders of one batch that may be open at the same time. */
export const MAX_IN_FLIGHT = 500;
/** Orders of one batch open at the same time, unless the input says otherwise. */
export const DEFAULT_IN_FLIGHT = 100;
/** Currencies of one batch: its plan and its progress name each of them, and no payload of a batch may exceed 100 KB. */
export const MAX_CURRENCIES = 50;
/** Longest batch input as JSON, in bytes: it is written into the history with every step. Larger ones need a file. */
export const MAX_INLINE_BYTES = 50_000;

/** Bytes of a batch input as JSON in UTF-8. */
export const inlineBytes = (input: BatchInput): number => new TextEncoder().encode(JSON.stringify(input)).length;

/** Input of the `bulkWithdraw` workflow. Exactly one of `file` and `rows`. */
export type BatchInput = BatchShape;

/** A file below BATCH_DIR of the workers: `path` relative to it. `sha256` (hex) pins its bytes; another content is refused. */
export type BatchFile = NonNullable<BatchInput['file']>;

/** Input of the `scheduledBatch` workflow. `batch` is the input of the batch it starts, without file and batchId. */
export type ScheduledBatchInput = ScheduledBatchShape;

/** Amounts (decimal strings) by currency. */
export type AmountsByCurrency = Record<string, Amount>;

/** Something a person should see before approving; `rows` are the lines concerned. */
export interface BatchWarning {
  rows: number[];
  reason: string;
}

/** Effect of a batch on one currency's balance; decimal strings. Fees are estimates from rates, null when unknown. */
export interface CurrencyPlan {
  currency: string;
  rows: number;
  total: Amount;
  /** All commissions, whoever pays them. */
  fee: Amount | null;
  /** The part of `fee` that the balance pays on top of the amounts; the rest comes out of what the recipients get. */
  feeOnTop: Amount | null;
  /** Null where balances could not be read. `balanceAfter` = before − total − feeOnTop; without fees while those are unknown. */
  balanceBefore: Amount | null;
  balanceAfter: Amount | null;
  /** What is missing; absent when the balance suffices or is unknown. */
  shortfall?: Amount;
}

/** What a batch would do. `digest` (hex sha256) covers all other fields: approving it approves exactly this. */
export interface BatchPlan {
  account: string;
  batchId: string;
  /** Hash of the file's bytes, or of the inline rows. */
  sha256: string;
  rows: number;
  /** Hash (hex) of the orders that were read from those bytes. */
  orders: string;
  currencies: CurrencyPlan[];
  /** At most 50 of them, and how many there are. */
  warnings: BatchWarning[];
  warningCount: number;
  compensation: CompensationPolicy | null;
  resend: 'once' | 'never';
  again: boolean;
  /** What ends it before its last row; absent where the input gave none. */
  latestSend?: string;
  stopAfter?: BatchInput['stopAfter'];
  onlyByCommand?: OnlyByCommand;
  digest: string;
}

/** Counts of a batch none of whose rows has ended. */
export const NONE_ENDED = {
  completed: 0,
  completed_partially: 0,
  canceled: 0,
  error: 0,
  /** No order exists and none will under this start. */
  refused: 0,
  /** The id belongs to another order. */
  conflict: 0,
  /** For a person to look after, also where a workflow ended and its order may exist or, in a report, is still open. */
  parked: 0,
};

/** What became of the rows; `notStarted` is known at the end only. */
export type BatchOutcomes = Record<keyof typeof NONE_ENDED | 'notStarted', number>;

/** A row whose order is open: `row` counts from 1. */
export interface OpenRow {
  row: number;
  orderId: string;
  /** The row attached to an order that was there before: Temporal's list need not show it under this batch's id. */
  elsewhere?: true;
}

/** What Temporal's list was last asked: when (ISO time of a worker), in how many calls, and the last end that it showed. */
export interface ListLook {
  askedAt: string;
  calls: number;
  /** ISO time of the server. */
  closedUntil: string;
}

/** How far a batch is. Everything needed to go on; small, whatever the number of rows. */
export interface BatchProgress {
  /** Rows taken so far: the next chunk goes on behind them. */
  taken: number;
  /** What the rows taken so far ask for; absent before the first. Never more than the plan's totals. */
  asked?: AmountsByCurrency;
  started: number;
  open: OpenRow[];
  outcomes: typeof NONE_ENDED;
  /** Paid out, by the orders' own `amount_to`. */
  moved: AmountsByCurrency;
  /** Every row was taken, or the batch was stopped and none will be any more. */
  exhausted: boolean;
  /** The last rows that were parked while nobody knew whether their order exists; they count as uncertain. */
  unsettled: number[];
  /** Open rows whose create was uncertain when they were last looked at. */
  uncertain?: number[];
  /** Absent before the list was asked for the first time. */
  listed?: ListLook;
  /** Why a person should look, such as an order whose workflow was terminated. */
  attention?: string;
  /** Why nothing is sent for now; it goes on by itself. */
  held?: string;
}

/** True for what may be a progress: heartbeats of other activities are bound to the same workflow. */
export const isProgress = (value: unknown): value is BatchProgress =>
  typeof value === 'object' && value !== null && 'taken' in value && 'open' in value && 'outcomes' in value;

/** `by` of a pause or stop that a batch made by its own limits. */
export const BY_ITSELF = 'the batch itself';

/** Where a batch stands. 'paused' sends nothing until `resume`; 'following' only waits for started orders. */
export type BatchPhase = 'checking' | 'awaitingApproval' | 'sending' | 'paused' | 'following' | 'reporting' | 'done';

/** Answer of the `batchState` query. */
export interface BatchState {
  phase: BatchPhase;
  batchId: string;
  waitingFor: string;
  startedBy: string;
  plan?: BatchPlan;
  progress: BatchProgress;
  /** ISO time of the first row's start; absent before. */
  sendingSince?: string;
  approvedBy?: string;
  /** Where the account asks for signatures: whose there are. Two make the batch approved. */
  approvals?: SignedApproval[];
  paused?: BatchInterruption;
  stopped?: BatchInterruption;
  /** Why a person should look. */
  attention?: string;
  /** The same, as lists show it. */
  attentionCode?: AttentionCode;
  /** What a person may do with it now; empty where nothing is to be decided. */
  choices: BatchChoice[];
}

/** A report on disk: `path` below REPORT_DIR, hash (hex) of its bytes. */
export interface ReportFile {
  path: string;
  sha256: string;
}

/** Result of the `bulkWithdraw` workflow. With `planOnly` nothing was started and `report` is absent. */
export interface BatchResult extends Pick<BatchPlan, 'batchId' | 'digest' | 'rows'> {
  started: number;
  outcomes: BatchOutcomes;
  moved: AmountsByCurrency;
  /** Of these, the rows whose orders were there before this batch, and what those paid out. Absent when there are none. */
  before?: { rows: number; moved: AmountsByCurrency };
  /** Absent where the workers have no REPORT_DIR. */
  report?: ReportFile;
  /** The rows no order exists for, as they were in the file: mend them and send them with `again`. Absent when there are none. */
  rejected?: ReportFile;
  plan: BatchPlan;
  stopped?: BatchInterruption;
}

/** Argument of the `approve` update. `by` must differ from `startedBy`. */
export interface BatchApproval {
  digest: string;
  by: string;
  /** Temporal's id of the run that it is for; the library fills it in. */
  runId?: string;
  /** Accounts of APPROVERS_FILE take no approval without. */
  signature?: Signature;
}

/** An approval that was signed, and the id of the key. */
export interface SignedApproval {
  by: string;
  keyId: string;
}

/** Argument of the `pause`, `resume` and `stop` updates. */
export interface BatchInstruction {
  by: string;
  reason: string;
  /** Of a `resume`: `paused.at` of the pause that it ends; the library fills it in. */
  pausedAt?: string;
  /** Of a `resume`: Temporal's id of the run that it is for; the library fills it in. */
  runId?: string;
  /** Of a `resume`: accounts of APPROVERS_FILE take none without. */
  signature?: Signature;
}

/** Something that a person may do with a batch now. */
export interface BatchChoice {
  update: 'approve' | 'resume' | 'stop';
  /** What it does, for people. */
  does: string;
  /** What the update takes. `by` and `reason` are placeholders, which it refuses. */
  argument: BatchApproval | BatchInstruction;
  onlyByCommand?: OnlyByCommand;
}

/** Why, by whom and when (ISO time) a batch was paused or stopped; `by` is BY_ITSELF where it did so by its own limits. */
export interface BatchInterruption extends Pick<BatchInstruction, 'by' | 'reason'> {
  at: string;
}

/** Who paused or stopped a batch, and why, as messages and details may show it: people may have typed anything. */
export const shownInterruption = ({ by, reason }: BatchInstruction): BatchInstruction =>
  // The batch's own reasons hold figures, which masking would hide.
  by === BY_ITSELF ? { by, reason } : { by: maskName(by), reason: maskName(reason) };

/** Failure type of a batch that nobody approved in time. Nothing was sent. */
export const BATCH_NOT_APPROVED = 'BatchNotApproved';
/** Failure type of a file that is missing, still grows or is another one than was planned. */
export const BATCH_FILE_UNUSABLE = 'BatchFileUnusable';

/** Failure type of a batch that was stopped or cancelled before its plan was made. Nothing was sent. */
export const BATCH_STOPPED = 'BatchStopped';

/** Failure type of a batch of which nobody can say what it sent: terminated, unreadable, or reset without its file. */
export const BATCH_UNRESOLVED = 'BatchUnresolved';

/** Failure type of a scheduled batch that ended with rows no order exists for. The batch's result is in its details. */
export const BATCH_INCOMPLETE = 'BatchIncomplete';
