import * as z from 'zod';
import type { FieldError } from '../contract/failures.js';
import { ACCOUNT_FORMAT, ORDER_UUID_FORMAT } from '../contract/ids.js';
import { maskName } from '../contract/masking.js';
import { BASIS_FIELDS } from '../contract/order/basis.js';
import type { OrderInput } from '../contract/order/input.js';
import { ORDER_TYPES, type OrderType } from '../contract/order/types.js';
import { withoutNulls } from '../contract/without-nulls.js';
import { fieldErrors } from './field-errors.js';
import { networkSchema } from './field-schemas.js';
import { type FormatChecks, sortFindings } from './format-checks.js';
import { fieldsOf, ruleErrors } from './order-rules.js';
import { orderSchemas, payoutSchemas } from './request-schemas.js';

/** Errors shown at once: two per card of the largest order. More than that is garbage, and failures live in histories. */
const MAX_ERRORS = 200;

/** The fields of an input besides the order. */
export const optionSchemas = {
  account: z.string().regex(ACCOUNT_FORMAT, 'must be 1 to 32 of a-z 0-9 -').optional(),
  compensation: z.enum(['report', 'finish', 'revert', 'ask']).optional(),
  revertTo: z.strictObject({ ...payoutSchemas, network: networkSchema }).optional(),
  resend: z.enum(['once', 'never']).optional(),
  batchId: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,120}$/, 'must be 1 to 120 of A-Z a-z 0-9 . _ -')
    .optional(),
  sentUntil: z.iso.datetime('must be an ISO time such as 2026-11-27T10:00:00Z').optional(),
};

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

/** What an order was sent to, as runs hand it on that are about the same account. */
export const sentToSchema = z.strictObject({
  endpoint: z.string(),
  wallets: z.array(z.string()).optional(),
  key: z.string(),
});

/** What a follow-up's order hands on to it; `order-rules` refuses it in every other input. */
const followUpFields = { followUpOf: z.array(basisSchema).min(1).optional(), sentTo: sentToSchema.optional() };

const inputSchema = (type: OrderType) =>
  z.strictObject({ ...optionSchemas, ...followUpFields, order: orderSchemas[type] });

const inputSchemas = new Map(ORDER_TYPES.map((type) => [type, inputSchema(type)]));

/** Errors of an input as they may be shown: one reason per field (the first), names masked, a bounded number of them. */
export function presentable(found: readonly FieldError[]): FieldError[] {
  const reasons = new Map<string, string>();
  for (const { field, reason } of found) {
    const callback = field === 'order.callback_url' || field === 'callback_url';
    const shown = maskName(field);
    if (!reasons.has(shown)) reasons.set(shown, callback ? 'the worker makes the callback URL; leave it out' : reason);
  }
  const errors = [...reasons].map(([field, reason]) => ({ field, reason }));
  if (errors.length <= MAX_ERRORS) return errors;
  return [...errors.slice(0, MAX_ERRORS), { field: 'input', reason: `and ${errors.length - MAX_ERRORS} more` }];
}

/**
 * Checks the input of an order workflow as far as that goes without asking the service. Every bad field is named at
 * once, by its path; never throws, and no reason shows a wallet or e-mail. `followUp` admits `.r<n>` ids, and only those.
 * `formatChecks`: what becomes of rules that are ours; `notes` are findings that refuse nothing.
 */
export function validateOrderInput<T extends OrderType>(
  type: T,
  input: unknown,
  { followUp = false, formatChecks = 'refuse' }: { followUp?: boolean; formatChecks?: FormatChecks } = {},
): { input: OrderInput<T>; notes?: FieldError[] } | { errors: FieldError[] } {
  const schema = inputSchemas.get(type);
  if (!schema) return { errors: [{ field: 'order_type', reason: `must be one of ${ORDER_TYPES.join(', ')}` }] };
  if (fieldsOf(input) !== input) return { errors: [{ field: 'input', reason: 'must be an object' }] };
  const given = withoutNulls(input);
  const parsed = schema.safeParse(given);
  const { errors, told } = sortFindings(ruleErrors(type, given, followUp), formatChecks);
  if (!parsed.success) return { errors: presentable([...fieldErrors(parsed.error), ...errors]) };
  if (errors.length > 0) return { errors: presentable(errors) };
  return { input: parsed.data as unknown as OrderInput<T>, ...(told.length > 0 && { notes: presentable(told) }) };
}
