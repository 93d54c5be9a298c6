import * as z from 'zod';
import type { FieldError } from '../contract/failures.js';
import { ORDER_ID_FORMAT, parseFollowUpOrderId } from '../contract/names.js';
import type { ReceivedDepositInput, RunInput } from '../contract/order/input-and-result.js';
import { factsOf, ORDER_TYPES, type OrderType } from '../contract/order/types.js';
import { withoutNulls } from '../contract/without-nulls.js';
import { damageErrors } from './cell-damage.js';
import { checkedBy, type FormatChecks, fieldErrors, presentable, sortRemarks } from './field-errors.js';
import { fieldsOf } from './field-texts.js';
import { optionSchemas, orderUuid, receivedSchema } from './input-schemas.js';
import { ruleErrors, shownIdErrors } from './order-rules.js';
import { orderSchemas } from './request-schemas.js';

/** Account that an order was sent to, as runs of the same account hand it on. */
export const sentToSchema = z.strictObject({
  account: z.string(),
  witness: z.strictObject({ order_id: z.string(), order_uuid: z.string() }).optional(),
});

/** Options that our own code sets. `order-rules` refuses those of follow-ups in every other input. */
const internalSchemas = {
  // Written by the order's own workflow, and only compared with.
  followUpOf: z
    .array(z.looseObject({ order_uuid: orderUuid }))
    .min(1)
    .optional(),
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

/**
 * Checks the input of a `receivedDeposit` workflow and names every bad field; never throws. The
 * receipt exists, so rules that are ours refuse nothing.
 */
export function validateReceivedInput(input: unknown): { input: ReceivedDepositInput } | { errors: FieldError[] } {
  const given = withoutNulls(input);
  const parsed = receivedSchema.safeParse(given);
  const { compensation: policy, revertTo: refund } = fieldsOf(given);
  // What the receipt becomes is not known yet: an order with exchange admits the most.
  const remarks = ruleErrors('deposit_exchange', { compensation: policy, revertTo: refund }, false);
  const rules = [...damageErrors({ revertTo: refund }), ...sortRemarks(remarks, 'warn').errors];
  if (parsed.success && rules.length === 0) return { input: parsed.data };
  return { errors: presentable([...(parsed.success ? [] : fieldErrors(parsed.error)), ...rules]) };
}

const isAnyOrderId = (id: string): boolean => ORDER_ID_FORMAT.test(id) || parseFollowUpOrderId(id) !== undefined;

/** The list may show a payout's target masked. Nothing is sent, so it is not checked. */
const knownInPart = { wallet: z.string().optional(), wallet_memo: z.string().nullish() };

const recoveredSchema = (type: OrderType) =>
  z.strictObject({
    account: optionSchemas.account,
    batchId: optionSchemas.batchId,
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
