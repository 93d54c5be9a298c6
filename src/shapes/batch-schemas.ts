import * as z from 'zod';
import { ATTENTION_CODES } from '../contract/attention.js';
import { NONE_ENDED } from '../contract/batch/batch.js';
import { EVENT_KINDS } from '../contract/events.js';
import { batchSchema, optionSchemas } from '../validation/input-schemas.js';
import { amount, count, onlyByCommand, ownText, sha256, signature, time } from './parts.js';

/* Results and messages of batches. The contract derives its types from them. */

const amounts = z.record(z.string(), amount);
const receiver = z.object({ name: z.string(), kinds: z.array(z.enum(EVENT_KINDS)).readonly().optional() });
const ends = Object.fromEntries(Object.keys(NONE_ENDED).map((name) => [name, count])) as Record<
  keyof typeof NONE_ENDED,
  typeof count
>;

/** Who paused or stopped a batch, why and when. */
export const batchInterruption = z.object({ by: z.string(), reason: z.string(), at: time });

/** A report: `path` below REPORT_DIR, hash (hex) of its bytes. */
export const reportFile = z.object({ path: z.string(), sha256 });

/** Shown before an approval; `rows` are lines. */
export const batchWarning = z.object({ rows: z.array(count), reason: z.string() });

/** Effect on one currency's balance. Fees are estimates from rates, null if unknown. */
export const currencyPlan = z.object({
  currency: z.string(),
  rows: count,
  total: amount,
  /** All commissions. */
  fee: amount.nullable(),
  /** The part that the balance pays beside the amounts. */
  feeOnTop: amount.nullable(),
  /** Null if unreadable. `balanceAfter` = before − total − known feeOnTop. */
  balanceBefore: amount.nullable(),
  balanceAfter: amount.nullable(),
  shortfall: amount.optional(),
});

/** Effect of a batch. `digest` (hex sha256) covers all other fields, so an approval is exact. */
export const batchPlan = z.object({
  account: z.string(),
  batchId: z.string(),
  /** Hash of the file's bytes or the inline rows. */
  sha256,
  rows: count,
  /** Hash (hex) of the orders in those bytes. */
  orders: sha256,
  currencies: z.array(currencyPlan),
  /** At most 50, and the number of all. */
  warnings: z.array(batchWarning),
  warningCount: count,
  compensation: optionSchemas.compensation.unwrap().nullable(),
  resend: optionSchemas.resend.unwrap(),
  whenShort: optionSchemas.whenShort,
  again: z.boolean(),
  /** Conditions that end it early. */
  latestSend: z.string().optional(),
  stopAfter: batchSchema.shape.stopAfter,
  /** Receivers of events; not approved with it. */
  receivers: z.array(receiver).readonly().optional(),
  onlyByCommand: onlyByCommand.optional(),
  digest: sha256,
});

/** A row with an open order; `row` counts from 1. */
const openRow = z.object({ row: count, orderId: z.string() });

/** Progress of a batch; small, whatever the number of rows. */
export const batchProgress = z.object({
  /** Rows taken so far. */
  taken: count,
  /** Amounts of those rows, never above the plan's totals. */
  asked: amounts.optional(),
  started: count,
  open: z.array(openRow),
  outcomes: z.object(ends),
  /** Paid out, by the orders' `amount_to`. */
  moved: amounts,
  /** No more rows will be taken. */
  exhausted: z.boolean(),
  /** The last rows that were parked with an unknown outcome. */
  unsettled: z.array(count),
  /** Open rows with an uncertain create. */
  uncertain: z.array(count).optional(),
  /**
   * While rows in doubt wait for a later order: why rows go one at a time, the row that goes, those
   * in a row without a clear answer, and when the next one may go (ms).
   */
  first: z
    .object({
      why: z.string(),
      row: count.optional(),
      orderId: z.string().optional(),
      unclear: count,
      nextAtMs: z.number(),
    })
    .optional(),
  /** Rows beyond `taken` that went first. */
  ahead: z.array(count).optional(),
  /** Open rows that wait for funds. */
  short: z.array(count).optional(),
  /** Reason for attention, such as a terminated order workflow. */
  attention: z.string().optional(),
  /** Why nothing is sent for now; it continues by itself. */
  held: z.string().optional(),
});

/** Argument of the `approve` update. `by` must differ from `startedBy`. */
export const batchApproval = z.strictObject({
  digest: sha256,
  by: ownText,
  /** Temporal's run id; the library sets it. */
  runId: z.string().optional(),
  /** Required by accounts of APPROVERS_FILE. */
  signature: signature.optional(),
});

/** Argument of the `pause`, `resume` and `stop` updates. */
export const batchInstruction = z.strictObject({
  by: ownText,
  reason: ownText,
  /** Set for a `resume`: `paused.at` of its pause. The library sets it. */
  pausedAt: z.string().optional(),
  /** Set for a `resume`: Temporal's run id. The library sets it. */
  runId: z.string().optional(),
  /** Set for a `resume`: accounts in APPROVERS_FILE require it. */
  signature: signature.optional(),
});

const unnamed = { by: z.string() };

/** Update that is possible now, and its effect. */
export const batchChoice = z.object({
  update: z.enum(['approve', 'resume', 'stop']),
  does: z.string(),
  /** Argument of the update. The update refuses its placeholders `by` and `reason`. */
  argument: z.union([batchApproval.extend(unnamed), batchInstruction.extend({ ...unnamed, reason: z.string() })]),
  onlyByCommand: onlyByCommand.optional(),
});

const signedApproval = z.object({ by: z.string(), keyId: z.string() });

/** Answer of the `batchState` query. */
export const batchState = z.object({
  /** 'paused' sends nothing; 'following' waits for started orders; 'failed' ended by `failure`. */
  phase: z.enum(['checking', 'awaitingApproval', 'sending', 'paused', 'following', 'reporting', 'done', 'failed']),
  batchId: z.string(),
  waitingFor: z.string(),
  startedBy: z.string(),
  plan: batchPlan.optional(),
  /** A failed batch has no `outcomes`, because those of its rows are unknown. */
  progress: batchProgress.partial({ outcomes: true }),
  /** Failure type and text of a failed batch. */
  failure: z.object({ code: z.string(), detail: z.string() }).optional(),
  /** ISO time of the first row's start. */
  sendingSince: time.optional(),
  approvedBy: z.string().optional(),
  /** Signed approvals; two approve the batch. */
  approvals: z.array(signedApproval).optional(),
  paused: batchInterruption.optional(),
  stopped: batchInterruption.optional(),
  attention: z.string().optional(),
  attentionCode: z.enum(ATTENTION_CODES).optional(),
  choices: z.array(batchChoice),
});

/** Result of the `bulkWithdraw` workflow. With `planOnly` nothing was started. */
export const batchResult = batchPlan.pick({ batchId: true, digest: true, rows: true }).extend({
  started: count,
  outcomes: z.object({ ...ends, notStarted: count }),
  moved: amounts,
  /** Rows whose orders existed before this batch, and what they paid. */
  before: z.object({ rows: count, moved: amounts }).optional(),
  /** Absent without REPORT_DIR. */
  report: reportFile.optional(),
  /** Rows without an order, to correct and send with `again`. */
  rejected: reportFile.optional(),
  plan: batchPlan,
  stopped: batchInterruption.optional(),
});

/** Pause or stop of a batch: who, why and when. */
export type BatchInterruption = z.output<typeof batchInterruption>;
/** A report: `path` below REPORT_DIR, hash (hex) of its bytes. */
export type ReportFile = z.output<typeof reportFile>;
/** Warning of a plan; `rows` are lines. */
export type BatchWarning = z.output<typeof batchWarning>;
/** Effect of a batch on one currency's balance, in decimal strings. */
export type CurrencyPlan = z.output<typeof currencyPlan>;
/** Effect of a batch, shown before it pays; `digest` names it in an approval. */
export type BatchPlan = z.output<typeof batchPlan>;
export type OpenRow = z.output<typeof openRow>;
/** Progress of a batch, whatever its number of rows. */
export type BatchProgress = z.output<typeof batchProgress>;
/** Approval of a plan, by its `digest`. */
export type BatchApproval = z.output<typeof batchApproval>;
/** Pause, resume or stop of a batch: by whom and why. */
export type BatchInstruction = z.output<typeof batchInstruction>;
/** Update of a batch that is possible now, with its argument. */
export type BatchChoice = z.output<typeof batchChoice>;
/** Who approved a batch, and the id of their key. */
export type SignedApproval = z.output<typeof signedApproval>;
/** State of a batch, a few seconds old. */
export type BatchState = z.output<typeof batchState>;
/** Result of a batch: rows by outcome, amounts paid, and reports. */
export type BatchResult = z.output<typeof batchResult>;
