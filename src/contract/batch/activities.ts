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

/* Inputs and answers of batch activities, kept in histories: fields are added, never renamed. */

interface OfBatch {
  account: string;
  input: BatchInput;
}

/** Input of an activity that writes files or audit lines. */
interface Writing extends OfBatch {
  /**
   * A failed write fails the activity, and the batch raises attention. Otherwise it is repeated.
   */
  tells?: true;
}

export const NOT_WRITTEN = 'NotWritten';

export interface PlanBatchInput extends Writing {}

/** Limits of a plan for all chunks. `totals`: by currency. */
export interface PlannedRows extends Pick<BatchPlan, 'sha256' | 'rows' | 'orders'> {
  totals: AmountsByCurrency;
}

/** 'send' starts rows, 'wait' follows open ones, 'finish' looks for uncounted ones. */
export interface SendBatchRowsInput extends OfBatch {
  plan: PlannedRows;
  /** Start of the batch (ISO time): later starts under its rows' ids are its own. */
  startedAt: string;
  progress: BatchProgress;
  mode: 'send' | 'wait' | 'finish';
  durationMs: number;
  /** Run that may send. After a reset, another run starts nothing. */
  knownRun: string;
}

/** `halt`: why it stops; `pause`: why it waits for an operator; `resetRun`: a reset run asked. */
export interface SendBatchRowsAnswer {
  progress: BatchProgress;
  halt?: string;
  pause?: string;
  resetRun?: string;
}

/** Input of `reportBatch`, which reads the end of every row and writes the reports. */
export interface ReportBatchInput extends Writing {
  plan: BatchPlan;
  taken: number;
  /** Rows that were taken ahead of it. */
  ahead?: number[] | undefined;
  /** Start of the batch (ISO time). */
  startedAt: string;
  /** Only recorded. */
  paused?: BatchInterruption;
  stopped?: BatchInterruption;
}

/** Answer of `reportBatch`. `started`: rows with an order, also of an earlier batch. */
export type ReportBatchAnswer = Pick<BatchResult, 'outcomes' | 'moved' | 'started' | 'before' | 'report' | 'rejected'>;

/** Input of `awaitBatchFile`. `scheduledAt` (ISO time): absent if a period is given. */
export interface AwaitBatchFileInput {
  input: ScheduledBatchInput;
  scheduledAt?: string;
}

/** Batch of a period. Without a hash, it is only followed. */
export interface PeriodBatch extends BatchInput {
  batchId: string;
  file: BatchFile;
}
