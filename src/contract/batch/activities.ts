import type {
  AmountsByCurrency,
  BatchFile,
  BatchInput,
  BatchInterruption,
  BatchPlan,
  BatchProgress,
  BatchResult,
  ScheduledBatchInput,
} from './batch.js';

/* What the activities of batches take and answer. It lives in workflow histories: fields may be added, never renamed. */

/** What the activities of a batch are about. */
interface OfBatch {
  account: string;
  input: BatchInput;
}

/** Input of an activity that writes files or into the audit record. */
interface Writing extends OfBatch {
  /** True: it fails for good where that cannot be written, so that the batch tells a person; else it is repeated. */
  tells?: true;
}

/** Failure type of an activity that could not write what it must. */
export const NOT_WRITTEN = 'NotWritten';

/** Input of the activity `planBatch`. */
export interface PlanBatchInput extends Writing {}

/** What of a plan no chunk may go beyond. `totals`: by currency, decimal strings. */
export interface PlannedRows extends Pick<BatchPlan, 'sha256' | 'rows' | 'orders'> {
  totals: AmountsByCurrency;
}

/** 'send' starts rows, 'wait' only follows open ones, 'finish' first looks for rows started and not counted. */
export interface SendBatchRowsInput extends OfBatch {
  plan: PlannedRows;
  /** ISO time at which the batch was started: what began later under its rows' ids is its own. */
  startedAt: string;
  progress: BatchProgress;
  mode: 'send' | 'wait' | 'finish';
  durationMs: number;
  /** Run of the workflow that may send: in another one, cut from it by a reset, nothing is started. */
  knownRun: string;
}

/** `halt`: why it stops by itself; `pause`: why it waits for a person; `resetRun`: a reset run asked, none was sent. */
export interface SendBatchRowsAnswer {
  progress: BatchProgress;
  halt?: string;
  pause?: string;
  resetRun?: string;
}

/** Input of the activity `reportBatch`: reads the end of every row from Temporal and writes the reports. */
export interface ReportBatchInput extends Writing {
  plan: BatchPlan;
  /** Rows that the batch took, from the first: behind them none was started. */
  taken: number;
  /** When the batch began (ISO time). */
  startedAt: string;
  /** Who paused it, unless it was resumed, and who stopped it; only written down. */
  paused?: BatchInterruption;
  stopped?: BatchInterruption;
}

/** Answer of `reportBatch`. `started`: rows whose own order was started, by this batch or an earlier one. */
export type ReportBatchAnswer = Pick<BatchResult, 'outcomes' | 'moved' | 'started' | 'before' | 'report' | 'rejected'>;

/** Input of the activity `awaitBatchFile`; `scheduledAt` (ISO time) is the schedule's, absent where a period is given. */
export interface AwaitBatchFileInput {
  input: ScheduledBatchInput;
  scheduledAt?: string;
}

/** The batch of a period, as `awaitBatchFile` answers and `runBatch` takes it. A file without hash: only follow it. */
export interface PeriodBatch extends BatchInput {
  batchId: string;
  file: BatchFile;
}
