import * as z from 'zod';
import type { FieldError } from '../contract/failures.js';
import { ADDRESS_REF_FORMAT, ORDER_ID_FORMAT, ORDER_UUID_FORMAT, parseFollowUpOrderId } from '../contract/ids.js';
import type { OrderInput, ReceivedDepositInput } from '../contract/order/input.js';
import { factsOf, ORDER_TYPES, type OrderType } from '../contract/order/types.js';
import { withoutNulls } from '../contract/without-nulls.js';
import { fieldErrors } from './field-errors.js';
import { type FormatChecks, sortFindings } from './format-checks.js';
import { fieldsOf, ruleErrors } from './order-rules.js';
import { optionSchemas, presentable, sentToSchema } from './order-schema.js';
import { orderSchemas } from './request-schemas.js';

/**
 * Inputs of runs that only follow an order: it exists at the service already, made by a receipt on a permanent address
 * ('received') or by a run that is lost ('recovered').
 */

const orderUuid = z.string().regex(ORDER_UUID_FORMAT, 'must be 1 to 64 of A-Z a-z 0-9 _ -');

const { account, compensation, revertTo, batchId } = optionSchemas;

const receivedSchema = z.strictObject({
  account,
  ref: z.string().regex(ADDRESS_REF_FORMAT, 'must be 1 to 64 of A-Z a-z 0-9 _ -'),
  order_uuid: orderUuid,
  compensation,
  revertTo,
});

/** Checks the input of a `receivedDeposit` workflow; every bad field is named, without its value. Never throws. */
export function validateReceivedInput(
  input: unknown,
  formatChecks: FormatChecks = 'refuse',
): { input: ReceivedDepositInput } | { errors: FieldError[] } {
  const given = withoutNulls(input);
  const parsed = receivedSchema.safeParse(given);
  // What the receipt becomes is not known yet: an order with exchange admits the most.
  const { compensation: policy, revertTo: refund } = fieldsOf(given);
  const rules = sortFindings(
    ruleErrors('deposit_exchange', { compensation: policy, revertTo: refund }, false),
    formatChecks,
  ).errors;
  if (parsed.success && rules.length === 0) return { input: parsed.data as ReceivedDepositInput };
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
): { input: OrderInput<T> } | { errors: FieldError[] } {
  const schema = recoveredSchemas.get(type);
  if (!schema) return { errors: [{ field: 'order_type', reason: `must be one of ${ORDER_TYPES.join(', ')}` }] };
  const parsed = schema.safeParse(withoutNulls(input));
  return parsed.success
    ? { input: parsed.data as unknown as OrderInput<T> }
    : { errors: presentable(fieldErrors(parsed.error)) };
}
