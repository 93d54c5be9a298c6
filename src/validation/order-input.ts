import * as z from 'zod';
import type { FieldError } from '../contract/failures.js';
import { ORDER_ID_FORMAT, parseFollowUpOrderId } from '../contract/names.js';
import type { ReceivedDepositInput, RunInput } from '../contract/order/input-and-result.js';
import { factsOf, ORDER_TYPES, type OrderType } from '../contract/order/types.js';
import { withoutNulls } from '../contract/without-nulls.js';
import { checkedBy, type FormatChecks, fieldErrors, isNote, presentable } from './field-errors.js';
import { damageErrors, fieldsOf } from './field-texts.js';
import { optionSchemas, orderUuid, receivedSchema } from './input-schemas.js';
import { ruleErrors, shownIdErrors } from './order-rules.js';
import { orderSchemas } from './request-schemas.js';

/** Account that an order was sent to, as its runs pass it on. */
export const sentToSchema = z.strictObject({
  account: z.string(),
  witness: z.strictObject({ order_id: z.string(), order_uuid: z.string() }).optional(),
});

/** Options that only our code sets. `ruleErrors` refuses them in other inputs. */
const internalSchemas = {
  // The order's own workflow wrote these. They are only compared, or make limits stricter.
  followUpOf: z
    .array(z.looseObject({ order_uuid: orderUuid }))
    .min(1)
    .optional(),
  strictest: z.looseObject({}).optional(),
  decidedBy: z.string().optional(),
  sentTo: sentToSchema.optional(),
  accountUnknown: z.literal(true, 'must be true or absent').optional(),
  held: z.string().optional(),
};

const UNKNOWN_TYPE = { errors: [{ field: 'order_type', reason: `must be one of ${ORDER_TYPES.join(', ')}` }] };

const inputSchemas = new Map(
  ORDER_TYPES.map((type) => [
    type,
    z.strictObject({ ...optionSchemas, ...internalSchemas, order: orderSchemas[type] }),
  ]),
);

/**
 * `followUp` requires a `.r<n>` id. `started`: skips the id's check, because it may have been sent.
 */
interface Checks {
  followUp?: boolean;
  formatChecks?: FormatChecks;
  started?: boolean;
}

/**
 * Checks an order's input without the service, and names every bad field. Never throws; reasons
 * contain no wallet or e-mail; `notes` are only warnings.
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
  const told = remarks.filter((remark) => isNote(remark, formatChecks));
  // First, because other errors of a damaged value follow from the damage.
  const found = [
    ...(followUp || started ? [] : damageErrors(fieldsOf(given))),
    ...(parsed.success ? [] : fieldErrors(parsed.error)),
    ...remarks.filter((remark) => !told.includes(remark)),
  ];
  if (!parsed.success || found.length > 0) return { errors: presentable(found) };
  return { input: parsed.data as unknown as RunInput<T>, ...(told.length > 0 && { notes: presentable(told) }) };
}

/**
 * Checks a `receivedDeposit` input and names every bad field; never throws. Our own rules refuse
 * nothing, because the receipt exists.
 */
export function validateReceivedInput(input: unknown): { input: ReceivedDepositInput } | { errors: FieldError[] } {
  const given = withoutNulls(input);
  const parsed = receivedSchema.safeParse(given);
  const { compensation: policy, revertTo: refund } = fieldsOf(given);
  // The receipt's type is unknown. An order with an exchange accepts the most policies.
  const remarks = ruleErrors('deposit_exchange', { compensation: policy, revertTo: refund }, false);
  const rules = [...damageErrors({ revertTo: refund }), ...remarks.filter((remark) => !isNote(remark, 'warn'))];
  if (parsed.success && rules.length === 0) return { input: parsed.data };
  return { errors: presentable([...(parsed.success ? [] : fieldErrors(parsed.error)), ...rules]) };
}

const isAnyOrderId = (id: string): boolean => ORDER_ID_FORMAT.test(id) || parseFollowUpOrderId(id) !== undefined;

/** The list may mask a payout's target. Nothing is sent, so it is not checked. */
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
    // Only compared, so not checked.
    recovered: z.strictObject({
      order_uuid: orderUuid,
      listed: z.looseObject({}).optional(),
      sentTo: sentToSchema.optional(),
    }),
  });

const recoveredSchemas = new Map(ORDER_TYPES.map((type) => [type, recoveredSchema(type)]));

/** Checks the input of a recovered order. Never throws. */
export function validateRecoveredInput<T extends OrderType>(
  type: T,
  input: unknown,
): { input: RunInput<T> } | { errors: FieldError[] } {
  const schema = recoveredSchemas.get(type);
  if (!schema) return UNKNOWN_TYPE;
  return checkedBy(schema, input) as { input: RunInput<T> } | { errors: FieldError[] };
}
