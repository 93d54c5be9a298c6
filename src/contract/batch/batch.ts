import type { BatchInstruction, BatchPlan, BatchProgress, BatchState } from '../../shapes/batch-schemas.js';
import type { BatchInput } from '../../validation/input-schemas.js';
import { maskName } from '../masking.js';
import { type Amount, decimal, decimalOrZero, toAmount } from '../money.js';

export type {
  BatchApproval,
  BatchChoice,
  BatchInstruction,
  BatchInterruption,
  BatchPlan,
  BatchProgress,
  BatchResult,
  BatchState,
  BatchWarning,
  CurrencyPlan,
  OpenRow,
  ReportFile,
  SignedApproval,
} from '../../shapes/batch-schemas.js';

/** Default time after which an unapproved plan expires. */
export const APPROVAL_EXPIRES_MS = 24 * 3_600_000;
/** Default of open orders of one batch. */
export const DEFAULT_IN_FLIGHT = 100;
/** Currencies of one batch; payloads of plan and progress may not exceed 100 KB. */
export const MAX_CURRENCIES = 50;
/** Limits of a batch input (as JSON), because every step writes it into the history. */
export const MAX_INLINE_ROWS = 200;
export const MAX_INLINE_BYTES = 50_000;

/** Bytes of a batch input as JSON in UTF-8. */
export const inlineBytes = (input: BatchInput): number => new TextEncoder().encode(JSON.stringify(input)).length;

/** Returns true if the rows fit into the workflow's input. */
export const fitsInline = (input: BatchInput): boolean =>
  (input.rows?.length ?? 0) <= MAX_INLINE_ROWS && inlineBytes(input) <= MAX_INLINE_BYTES;

export type { BatchInput, ScheduledBatchInput } from '../../validation/input-schemas.js';

/** A file below BATCH_DIR: relative `path`, and `sha256` (hex) of its bytes. */
export type BatchFile = NonNullable<BatchInput['file']>;

/** Amounts (decimal strings) by currency. */
export type AmountsByCurrency = Record<string, Amount>;

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

/** Returns true for a progress; heartbeats of other activities reach the same workflow. */
export const isProgress = (value: unknown): value is BatchProgress =>
  typeof value === 'object' && value !== null && 'taken' in value && 'open' in value && 'outcomes' in value;

/** Returns the planned amounts without what was paid out. */
export function amountsLeft({ currencies }: BatchPlan, moved: BatchProgress['moved']): AmountsByCurrency {
  const left = currencies.map(({ currency, total }) => {
    const amount = decimal(total).minus(decimalOrZero(moved[currency]));
    return [currency, toAmount(amount.lt(0) ? decimal('0') : amount)];
  });
  return Object.fromEntries(left);
}

/** `by` of a batch's own pause or stop. */
export const BY_ITSELF = 'the batch itself';

/** Phase of a batch. 'paused' sends nothing; 'following' waits for started orders. */
export type BatchPhase = BatchState['phase'];

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

/** Returns what a failed batch shows. Its counts may lack orders, so no outcome is shown. */
export const asFailed = ({ progress: { outcomes: _, ...progress } }: Pick<BatchState, 'progress'>) => ({
  phase: 'failed' as const,
  waitingFor: 'nothing',
  progress,
  choices: [],
});

/** Query and updates of a batch. Updates return nothing. */
export const BATCH_MESSAGES = {
  state: 'batchState',
  approve: 'approve',
  pause: 'pause',
  resume: 'resume',
  stop: 'stop',
} as const;
