import { posix } from 'node:path';
import * as z from 'zod';
import {
  ACCOUNT_FORMAT,
  ADDRESS_REF_FORMAT,
  BATCH_ID_FORMAT,
  METADATA_KEY_FORMAT,
  METADATA_VALUE_FORMAT,
  ORDER_UUID_FORMAT,
  PLAN_FORMAT,
  REFERENCE_FORMAT,
} from '../contract/names.js';
import type { WithdrawRequest } from '../contract/order/request.js';
import { holdsPrivate } from '../contract/wallets.js';
import { CONTROL, nameSchema, networkSchema, payoutSchemas, shownName } from './request-schemas.js';

/* Inputs of workflows besides the order. The contract derives its types from them. */

const MAX_METADATA = 15;

const harmless = (format: RegExp, expected: string) =>
  z
    .string()
    .regex(format, { error: expected, abort: true })
    .refine((text) => !holdsPrivate(text), 'must not hold a card number, an IBAN or an e-mail address');

/** Fields of an input besides the order. */
export const optionSchemas = {
  account: shownName(ACCOUNT_FORMAT, 'must be 1 to 32 of a-z 0-9 -').optional(),
  /** Policy after a partial or failed end. Default: the first column of the documented table. */
  compensation: z.enum(['report', 'finish', 'revert', 'ask']).optional(),
  /** Target of a refund. Refunds never go to `wallet_from`. */
  revertTo: z.strictObject({ ...payoutSchemas, network: networkSchema }).optional(),
  /** 'never': an order with an uncertain create is parked instead of sent again. */
  resend: z.enum(['once', 'never']).optional(),
  /**
   * Treatment of an order by `amount` that the balance does not cover. `refuse` ends it, `ask` parks
   * it, `wait` sends it once it is covered, and `overtake` waits but may go before larger ones.
   */
  whenShort: z.enum(['refuse', 'ask', 'wait', 'overtake']).optional(),
  /** ISO time after which nothing is sent. An unsent order then ends as OrderCancelled. */
  latestSend: z.iso.datetime({ offset: true, error: 'must be an ISO time such as 2026-11-27T18:00:00Z' }).optional(),
  batchId: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,120}$/, 'must be 1 to 120 of A-Z a-z 0-9 . _ -')
    .optional(),
  /** Caller's name of the order, which lists, events and reports show unencrypted. */
  reference: shownName(REFERENCE_FORMAT, 'must be 1 to 64 of A-Z a-z 0-9 . _ : / # -').optional(),
  /** Caller's facts, returned with the order and its events. The service gets neither. */
  metadata: z
    .record(
      harmless(METADATA_KEY_FORMAT, 'a name must be 1 to 40 of A-Z a-z 0-9 _ . -'),
      harmless(METADATA_VALUE_FORMAT, 'must be 1 to 200 characters without control characters').meta({
        pattern: '^.{1,200}$',
        not: CONTROL,
      }),
    )
    .refine((entries) => Object.keys(entries).length <= MAX_METADATA, `at most ${MAX_METADATA} entries`)
    .meta({ maxProperties: MAX_METADATA })
    .optional(),
  /**
   * ISO time until which an earlier run of this id may have sent; set by a start with `again`.
   * Nothing is sent before absence was read over a settle window.
   */
  sentUntil: z.iso.datetime('must be an ISO time such as 2026-11-27T10:00:00Z').optional(),
};

export type OptionShapes = { [Name in keyof typeof optionSchemas]?: z.infer<(typeof optionSchemas)[Name]> };
const { account, compensation, revertTo, resend, whenShort } = optionSchemas;
export const orderUuid = z.string().regex(ORDER_UUID_FORMAT, 'must be 1 to 64 of A-Z a-z 0-9 _ -');

export const receivedSchema = z.strictObject({
  account,
  ref: shownName(ADDRESS_REF_FORMAT, 'must be 1 to 64 of A-Z a-z 0-9 _ -'),
  order_uuid: orderUuid,
  compensation,
  revertTo,
});

export type ReceivedDepositInput = z.infer<typeof receivedSchema>;
export const MAX_IN_FLIGHT = 500;
/** Maximum wait for an approval or a file: 90 days. */
const MAX_WAIT_MS = 90 * 86_400_000;

const wait = z.int().min(1).max(MAX_WAIT_MS);
export const BATCH_FILE_ENDING = /\.(csv|ndjson|jsonl)$/i;

/** Path below BATCH_DIR. Only the worker can check whether it stays there. */
const path = z
  .string()
  .min(1, 'required')
  .max(500)
  .regex(/^[^\p{Cc}]*$/u, 'contains control characters')
  .refine((value) => !/^[/\\]|^[A-Za-z]:[/\\]/.test(value), 'must be relative to BATCH_DIR')
  .refine(
    (value) => !value.split('/').includes('..') && posix.normalize(value) === value,
    'must be a plain path below BATCH_DIR, such as "2026/payroll.csv"',
  )
  .regex(BATCH_FILE_ENDING, 'must end in .csv, .ndjson or .jsonl')
  .meta({
    allOf: [{ pattern: String.raw`\.([cC][sS][vV]|[nN][dD][jJ][sS][oO][nN]|[jJ][sS][oO][nN][lL])$` }],
    not: { pattern: `${CONTROL.pattern}|${String.raw`^[/\\]|^[A-Za-z]:[/\\]|(^|/)\.{1,2}(/|$)|//|/$`}` },
  });

const options = {
  /**
   * 'required': waits until another person than `startedBy` approves the digest. Default: 'none'.
   */
  approval: z.enum(['required', 'none']).optional(),
  /** Default: 24 h. */
  approvalExpiresMs: wait.optional(),
  /** Name of the starter: a claim, unless Temporal authorises its callers. */
  startedBy: nameSchema,
  compensation,
  resend,
  whenShort,
  maxInFlight: z.int().min(1).max(MAX_IN_FLIGHT).optional(),
  stopAfter: z
    .strictObject({
      /** Stops the batch after so many rows that did not complete. */
      failures: z.int().min(1).optional(),
    })
    .optional(),
};

export const batchSchema = z.strictObject({
  ...options,
  account,
  /** Names the batch for ever, and is part of its workflow id. Only a plan may omit it. */
  batchId: shownName(BATCH_ID_FORMAT, 'must be 1 to 120 of A-Z a-z 0-9 . _ -').optional(),
  file: z
    .strictObject({
      path,
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits')
        .optional(),
    })
    .optional(),
  // Each row is checked as an order, with the reference beside its request. Limits depend on
  // whether the rows can be uploaded.
  rows: z.array(z.custom<WithdrawRequest & Pick<OptionShapes, 'reference'>>()).min(1).optional(),
  /** Starts rows again whose ids ended without an order. */
  again: z.boolean().optional(),
  planOnly: z.boolean().optional(),
  latestSend: optionSchemas.latestSend,
});

/** Input of a batch: its rows or file, and how they are paid. */
export type BatchInput = z.infer<typeof batchSchema>;

export const scheduledSchema = z.strictObject({
  account,
  plan: shownName(PLAN_FORMAT, 'must be 1 to 64 of A-Z a-z 0-9 _ -'),
  /** IANA time zone of the period. Default: UTC. */
  timeZone: z.string().refine(isTimeZone, 'must be a time zone such as UTC or Europe/Berlin').optional(),
  /** 'date': 2026-11-27; 'minute': 2026-11-27T10-00. Default: 'date'. */
  periodFormat: z.enum(['date', 'minute']).optional(),
  /** Set by a trigger. Default: derived from the schedule's nominal time. */
  period: z.string().optional(),
  /** Path below BATCH_DIR that contains `{period}`. */
  filePattern: path
    .refine((value) => value.includes('{period}'), 'must contain {period}')
    .meta({ pattern: '[{]period[}]' }),
  /** Maximum wait for a missing or growing file. Default: 30 min. */
  waitForFileMs: wait.optional(),
  // Without `again` and `latestSend`, which fit one batch only.
  batch: z.strictObject(options),
});

/**
 * Input of the `scheduledBatch` workflow. `batch`: input of its batches, without file and batchId.
 */
export type ScheduledBatchInput = z.infer<typeof scheduledSchema>;

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}
