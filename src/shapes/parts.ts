import * as z from 'zod';
import { SIGNED_AMOUNT_FORMAT } from '../contract/money.js';
import { CLIENT_FIELDS } from '../contract/order/request.js';
import type { Order } from '../contract/service-objects.js';
import { MAX_SIGNED_TOGETHER } from '../contract/signature.js';
import { orderSchema } from '../payment-service/schemas.js';
import { orderUuid } from '../validation/input-schemas.js';

/* Parts of what workflows return and show. Histories hold these objects: fields are only added. */

/** Exact decimal string, negative for a change or a debt. */
export const amount = z.string().regex(SIGNED_AMOUNT_FORMAT);
/** ISO time in UTC. */
export const time = z.iso.datetime();
/** SHA-256 in hex. */
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** Number of things. */
export const count = z.int().min(0);

/** Words of a person, no placeholder such as `<why>`. */
export const ownText = z
  .string()
  .min(1)
  .max(500)
  .meta({ pattern: '[^ ]', not: { pattern: '^ *<[^<>]*> *$' } });

/** Order of the service, as workflows show it. */
export const shownOrder = orderSchema.extend({
  order_uuid: orderUuid,
  client_info: z.partialRecord(z.enum(Object.keys(CLIENT_FIELDS)), z.string()).nullish(),
  unreadable: z.array(z.string()).optional(),
}) as unknown as z.ZodType<Order>;

/** A person's Ed25519 signature of `textToSign`. */
export const signature = z.strictObject({
  /** As `keyIdOf` makes it. */
  keyId: z.string().max(64),
  /** Base64 of the 64 bytes. */
  value: z.string().max(100),
  /** For many orders: the SHA-256 of each text in hex. `value` is then of `textForAll`. */
  texts: z.array(sha256).max(MAX_SIGNED_TOGETHER).optional(),
});

/** Ed25519 signature (base64) of an update, and the id of its key. */
export type Signature = z.output<typeof signature>;

/** Why the Temporal UI cannot send a decision: it must be signed, or encrypted. */
export const onlyByCommand = z.enum(['signed', 'encrypted']);

export type OnlyByCommand = z.output<typeof onlyByCommand>;
