import * as z from 'zod';
import type { FieldError } from '../contract/failures.js';
import {
  ACCOUNT_FORMAT,
  ADDRESS_REF_FORMAT,
  ORDER_ID_FORMAT,
  ORDER_UUID_FORMAT,
  parseFollowUpOrderId,
} from '../contract/names.js';
import { BASIS_FIELDS } from '../contract/order/basis.js';
import type { ReceivedDepositInput, RunInput } from '../contract/order/input-and-result.js';
import { factsOf, ORDER_TYPES, type OrderType } from '../contract/order/types.js';
import { withoutNulls } from '../contract/without-nulls.js';
import { damageErrors } from './cell-damage.js';
import { checkedBy, type FormatChecks, fieldErrors, presentable, sortRemarks } from './field-errors.js';
import { fieldsOf } from './field-texts.js';
import { ruleErrors, shownIdErrors } from './order-rules.js';
import { networkSchema, orderSchemas, payoutSchemas, shownName } from './request-schemas.js';

/** The fields of an input besides the order. */
export const optionSchemas = {
  account: shownName(ACCOUNT_FORMAT, 'must be 1 to 32 of a-z 0-9 -').optional(),
  /** What is wanted when an order ends partially or in error; omitted = the default column of the table in docs. */
  compensation: z.enum(['report', 'finish', 'revert', 'ask']).optional(),
  /** Where a refund may go. Nothing is ever refunded to `wallet_from`. */
  revertTo: z.strictObject({ ...payoutSchemas, network: networkSchema }).optional(),
  /** 'never': after an uncertain create the order is parked instead of being sent a second time. */
  resend: z.enum(['once', 'never']).optional(),
  /** ISO time after which nothing is sent. An order that was not sent by then ends as OrderCancelled. */
  latestSend: z.iso.datetime({ offset: true, error: 'must be an ISO time such as 2026-11-27T18:00:00Z' }).optional(),
  batchId: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,120}$/, 'must be 1 to 120 of A-Z a-z 0-9 . _ -')
    .optional(),
  /**
   * ISO time until which an earlier run of this order id may have sent; set by a start with `again`. Nothing is sent before
   * absence was read over a settle window of its own. Later starts of the id are not compared with it.
   */
  sentUntil: z.iso.datetime('must be an ISO time such as 2026-11-27T10:00:00Z').optional(),
};

/** What the schemas admit besides the order. */
export type OptionShapes = { [Name in keyof typeof optionSchemas]?: z.infer<(typeof optionSchemas)[Name]> };

const orNull = z.string().nullable();

/** What a follow-up was made for, as its order's workflow read it. */
const basisSchema = z.strictObject({
  ...(Object.fromEntries(BASIS_FIELDS.map((field) => [field, orNull])) as Record<
    (typeof BASIS_FIELDS)[number],
    typeof orNull
  >),
  order_uuid: z.string().regex(ORDER_UUID_FORMAT, 'must be 1 to 64 of A-Z a-z 0-9 -'),
  user_order_id: z.string(),
  balance_changes: z.array(
    z.strictObject({
      currency: z.string(),
      amount_before: z.string(),
      amount_change: z.string(),
      amount_after: z.string(),
      created_at: z.string(),
    }),
  ),
});

/** Account that an order was sent to, as runs of the same account hand it on. */
export const sentToSchema = z.strictObject({
  account: z.string(),
  witness: z.strictObject({ order_id: z.string(), order_uuid: z.string() }).optional(),
});

/** Options that our own code sets. `order-rules` refuses those of follow-ups in every other input. */
const internalSchemas = {
  followUpOf: z.array(basisSchema).min(1).optional(),
  sentTo: sentToSchema.optional(),
  accountUnknown: z.literal(true, 'must be true or absent').optional(),
};

const UNKNOWN_TYPE = { errors: [{ field: 'order_type', reason: `must be one of ${ORDER_TYPES.join(', ')}` }] };

const inputSchemas = new Map(
  ORDER_TYPES.map((type) => [
    type,
    z.strictObject({ ...optionSchemas, ...internalSchemas, order: orderSchemas[type] }),
  ]),
);

/**
 * How an input is checked. `followUp` admits `.r<n>` ids, and only those. `formatChecks`: what becomes of rules that are ours.
 * `started`: it may have been sent under its id, so the id is not checked again.
 */
interface Checks {
  followUp?: boolean;
  formatChecks?: FormatChecks;
  started?: boolean;
}

/**
 * Checks the input of an order workflow as far as that goes without asking the service. Every bad field is named at
 * once, by its path; never throws, and no reason shows a wallet or e-mail. `notes` are remarks that refuse nothing.
 */
export function validateOrderInput<T extends OrderType>(
  type: T,
  input: unknown,
  { followUp = false, formatChecks = 'refuse', started = false }: Checks = {},
): { input: RunInput<T>; notes?: FieldError[] } | { errors: FieldError[] } {
  const schema = inputSchemas.get(type);
  if (!schema) return UNKNOWN_TYPE;
  if (fieldsOf(input) !== input) return { errors: [{ field: 'input', reason: 'must be an object' }] };
  const given = withoutNulls(input);
  const parsed = schema.safeParse(given);
  const remarks = [...ruleErrors(type, given, followUp), ...(followUp || started ? [] : shownIdErrors(given))];
  const { errors, told } = sortRemarks(remarks, formatChecks);
  // First: what else is wrong with a damaged value follows from the damage.
  const found = [
    ...(followUp || started ? [] : damageErrors(fieldsOf(given))),
    ...(parsed.success ? [] : fieldErrors(parsed.error)),
    ...errors,
  ];
  if (!parsed.success || found.length > 0) return { errors: presentable(found) };
  return { input: parsed.data as unknown as RunInput<T>, ...(told.length > 0 && { notes: presentable(told) }) };
}

const orderUuid = z.string().regex(ORDER_UUID_FORMAT, 'must be 1 to 64 of A-Z a-z 0-9 _ -');

const { account, compensation, revertTo, batchId } = optionSchemas;

/** A run that follows the order of a receipt on a permanent address. */
const receivedSchema = z.strictObject({
  account,
  ref: shownName(ADDRESS_REF_FORMAT, 'must be 1 to 64 of A-Z a-z 0-9 _ -'),
  order_uuid: orderUuid,
  compensation,
  revertTo,
});

/** What the schema of `receivedDeposit` admits. */
export type ReceivedShape = z.infer<typeof receivedSchema>;

/** Checks the input of a `receivedDeposit` workflow; every bad field is named, without its value. Never throws. */
export function validateReceivedInput(
  input: unknown,
  formatChecks: FormatChecks = 'refuse',
): { input: ReceivedDepositInput } | { errors: FieldError[] } {
  const given = withoutNulls(input);
  const parsed = receivedSchema.safeParse(given);
  const { compensation: policy, revertTo: refund } = fieldsOf(given);
  // What the receipt becomes is not known yet: an order with exchange admits the most.
  const remarks = ruleErrors('deposit_exchange', { compensation: policy, revertTo: refund }, false);
  const rules = [...damageErrors({ revertTo: refund }), ...sortRemarks(remarks, formatChecks).errors];
  if (parsed.success && rules.length === 0) return { input: parsed.data };
  return { errors: presentable([...(parsed.success ? [] : fieldErrors(parsed.error)), ...rules]) };
}

const isAnyOrderId = (id: string): boolean => ORDER_ID_FORMAT.test(id) || parseFollowUpOrderId(id) !== undefined;

/** Where the payout goes is what the list may show masked. Nothing is sent, so nothing there is checked. */
const knownInPart = { wallet: z.string().optional(), wallet_memo: z.string().nullish() };

const recoveredSchema = (type: OrderType) =>
  z.strictObject({
    account,
    batchId,
    order: orderSchemas[type].extend({
      order_id: z.string().refine(isAnyOrderId, 'must be the id of an order or follow-up'),
      ...(factsOf(type).paysOut && knownInPart),
    }),
    compensation: z.literal('report', 'must be report: a recovered run moves nothing'),
    resend: z.literal('never', 'must be never or left out: a recovered run sends nothing').optional(),
    // Only compared with, so that nothing in it is checked.
    recovered: z.strictObject({
      order_uuid: orderUuid,
      listed: z.looseObject({}).optional(),
      sentTo: sentToSchema.optional(),
    }),
  });

const recoveredSchemas = new Map(ORDER_TYPES.map((type) => [type, recoveredSchema(type)]));

/** Checks an order input with `recovered`, like `validateOrderInput` does those without. Never throws. */
export function validateRecoveredInput<T extends OrderType>(
  type: T,
  input: unknown,
): { input: RunInput<T> } | { errors: FieldError[] } {
  const schema = recoveredSchemas.get(type);
  if (!schema) return UNKNOWN_TYPE;
  return checkedBy(schema, input) as { input: RunInput<T> } | { errors: FieldError[] };
}
