import * as z from 'zod';
import { AGREED_CLASSES, DISAGREEING_CLASSES, MAX_SHOWN } from '../contract/reconcile/reconcile.js';
import { FINAL_STATUSES } from '../contract/service-objects.js';
import { optionSchemas } from '../validation/input-schemas.js';
import { reportFile } from './batch-schemas.js';
import { amount, count, time } from './parts.js';

/* Input and result of `reconcile`. The contract derives its types from them. */

const dateTime = z
  .string()
  .regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})?$/);

/**
 * Input of `reconcile`: orders created between `from` and `to` (ISO, or `YYYY-MM-DD hh:mm:ss` in
 * UTC); the last 72 h if omitted.
 */
export const reconcileInput = z.strictObject({
  account: optionSchemas.account,
  from: dateTime.optional(),
  to: dateTime.optional(),
  /** Temporal's database was lost or is old: follow every order that is open and unfollowed. */
  recover: z.boolean().optional(),
  openTooLongMs: z.int().min(1).optional(),
});

const classes = z.enum([...AGREED_CLASSES, ...DISAGREEING_CLASSES]);

/** One order as the report shows it. Dates, wallets and client data are left out. */
export const finding = z.object({
  class: classes,
  order_id: z.string(),
  order_uuid: z.string().optional(),
  /** Caller's reference, by our workflow. */
  reference: z.string().optional(),
  order_type: z.string().optional(),
  /** At the service; absent if it shows none. */
  status: z.string().optional(),
  /** Final status by our workflow; absent while it runs or without one. */
  verdict: z.enum(FINAL_STATUSES).optional(),
  /** Differences or actions, in words. */
  detail: z.string().optional(),
});

/** Something unreadable and its place. Never its content. */
export const malformedItem = z.object({ place: z.string(), reason: z.string() });

/**
 * Money that moved outside the orders seen: by their changes the balance is `after`; it was
 * `before`, or is it `now`.
 */
export const balanceGap = z.object({
  currency: z.string(),
  amount,
  after: amount,
  before: amount,
  now: z.literal(true).optional(),
  /** ISO time; `after` is what an earlier run carried over. */
  since: z.string().optional(),
});

/** Balance that was proven, or seen first, at a time. The next run continues there. */
export const carriedBalance = z.object({
  currency: z.string(),
  /** Less the overdraft: a debt is negative. */
  amount,
  at: z.string(),
});

/** Proof by one currency's balance changes. */
export const chainSummary = z.object({
  currency: z.string(),
  changes: count,
  start: amount,
  end: amount,
  gaps: count,
  /** Compares their end with the balance. */
  balance: z.enum(['equal', 'differs', 'moving', 'not compared']),
});

/** Result of `reconcile`. Its lists are limited; the counts are complete. */
export const reconcileResult = z.object({
  account: z.string(),
  /** The window that was asked for; 26 h more on each side were read. */
  from: time,
  to: time,
  /** Orders read from the service, each counted once. */
  seen: count,
  /** Windows read, those of a second look included. */
  windows: count,
  classes: z.record(classes, count),
  /** Orders of disagreeing classes, in that order. */
  disagreements: z.array(finding).max(MAX_SHOWN),
  malformed: z.array(malformedItem).max(MAX_SHOWN),
  malformedCount: count,
  gaps: z.array(balanceGap).max(MAX_SHOWN),
  gapCount: count,
  chains: z.array(chainSummary),
  /** For the next run, of every currency. Absent in results of older versions. */
  balances: z.array(carriedBalance).optional(),
  /** Missing proofs, in words. */
  notes: z.array(z.string()),
  /** The JSON report; absent if the workers have no REPORT_DIR. */
  report: reportFile.optional(),
  /** The book of the last day that was over by the service's clock; absent without REPORT_DIR. */
  book: reportFile.optional(),
});

/** Account and time window of a reconciliation. */
export type ReconcileInput = z.output<typeof reconcileInput>;
/** An order on which service and workflows were compared, with its class. */
export type Finding = z.output<typeof finding>;
/** An item of a list that cannot be read, and its place. */
export type MalformedItem = z.output<typeof malformedItem>;
/** Money that moved outside the orders that were seen. */
export type BalanceGap = z.output<typeof balanceGap>;
/** Balance that was proven at a time. The next run continues there. */
export type CarriedBalance = z.output<typeof carriedBalance>;
/** Proof by one currency's balance changes. */
export type ChainSummary = z.output<typeof chainSummary>;
/** Result of a reconciliation. Its lists are limited; the counts are complete. */
export type ReconcileResult = z.output<typeof reconcileResult>;
