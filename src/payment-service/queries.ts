import { z } from 'zod';
import { ORDER_UUID_FORMAT } from '../contract/names.js';
import { CLIENT_FIELDS, REQUEST_FIELDS } from '../contract/order/request.js';
import { ORDER_TYPES } from '../contract/order/types.js';
import { withoutNulls } from '../contract/without-nulls.js';
import { fieldErrors } from '../validation/field-errors.js';
import { textErrors, textsIn } from '../validation/field-texts.js';
import { clientInfoSchema, currencySchema, descriptionSchema, networkSchema } from '../validation/request-schemas.js';
import { InvalidRequestError } from './errors.js';

/** Most orders on one page of the order list, and most `order_ids` in one request. */
export const MAX_ORDERS_PER_PAGE = 1000;
/** Most addresses on one page of the address list. */
export const MAX_ADDRESSES_PER_PAGE = 100;
/** Page size of both lists when a query names none. */
export const DEFAULT_PAGE_SIZE = 100;

/** Wider than our own ids: the service also lists orders that others named. */
const orderId = z.string().regex(/^[^\p{Cc}]{1,255}$/u, 'must be 1 to 255 characters without control characters');
const orderUuid = z.string().regex(ORDER_UUID_FORMAT, 'must be 1 to 64 of A-Z a-z 0-9 _ -');
const page = z.int().min(1);

/** Returns true for what the order list may be asked for by `order_ids`. */
export const isOrderId = (id: string): boolean => orderId.safeParse(id).success;

/** Returns the service's date-time of a time; UTC, as its zone is not documented. */
export const serviceDateTime = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

/** Checked by a round trip, since Date rolls 30 February over into March. */
const dateTime = z.string().refine((text) => {
  const ms = Date.parse(`${text.replace(' ', 'T')}Z`);
  return !Number.isNaN(ms) && serviceDateTime(ms) === text;
}, 'must be a real date and time, written as YYYY-MM-DD hh:mm:ss');

/** Order status: exactly one of `order_id` and `order_uuid`. */
export const orderStatusSchema = z
  .strictObject({ order_id: orderId.optional(), order_uuid: orderUuid.optional() })
  .refine((query) => (query.order_id === undefined) !== (query.order_uuid === undefined), {
    message: 'exactly one of order_id, order_uuid is needed',
    path: ['order_id'],
  });

/** Order list; all fields optional. An empty `order_ids` is refused: the service might read it as "all orders". */
export const orderListSchema = z
  .strictObject({
    currency_from: currencySchema.optional(),
    network_from: networkSchema.optional(),
    currency_to: currencySchema.optional(),
    network_to: networkSchema.optional(),
    date_from: dateTime.optional(),
    date_to: dateTime.optional(),
    order_type: z.enum(ORDER_TYPES).optional(),
    status: z
      .string()
      .regex(/^[a-z_]{1,64}$/, 'must be a status')
      .optional(),
    order_id: orderId.optional(),
    order_ids: z
      .array(orderId)
      .min(1)
      .max(MAX_ORDERS_PER_PAGE)
      .refine((ids) => new Set(ids).size === ids.length, 'must not name an order twice')
      .optional(),
    limit: z.int().min(1).max(MAX_ORDERS_PER_PAGE).optional(),
    page: page.optional(),
  })
  .refine(({ date_from: from, date_to: to }) => from === undefined || to === undefined || from <= to, {
    message: 'must not be later than date_to',
    path: ['date_from'],
  });

/** Deposit address list; all fields optional. */
export const addressListSchema = z.strictObject({
  currency: currencySchema.optional(),
  network: networkSchema.optional(),
  limit: z.int().min(1).max(MAX_ADDRESSES_PER_PAGE).optional(),
  page: page.optional(),
});

const TITLE_FIELD = { address_title: REQUEST_FIELDS.description };

/** Creation of a permanent deposit address, as a caller may ask for it: the worker makes the `callback_url`. */
export const addressCreateSchema = z
  .strictObject({
    currency: currencySchema,
    network: networkSchema,
    currency_to: currencySchema.optional(),
    address_title: descriptionSchema,
    client_info: clientInfoSchema,
  })
  .superRefine((request, context) => {
    const texts = [
      ...textsIn('', request, TITLE_FIELD),
      ...textsIn('client_info.', request.client_info, CLIENT_FIELDS),
    ];
    for (const { field, reason } of textErrors(texts)) {
      context.addIssue({ code: 'custom', path: field.split('.'), message: reason });
    }
  });

/** Names one order. */
export type OrderStatusQuery = { order_id: string; order_uuid?: never } | { order_uuid: string; order_id?: never };
/** Selects orders; `limit` at most 1000. Dates as `YYYY-MM-DD hh:mm:ss`. */
export type OrderListQuery = z.infer<typeof orderListSchema>;

/** Asks for orders of any age if they are named, since a service may list recent orders alone. */
export const ofAllTimes = (query: OrderListQuery): OrderListQuery =>
  query.order_id === undefined && query.order_ids === undefined
    ? query
    : { date_from: '2000-01-01 00:00:00', ...query };

/** Selects permanent deposit addresses; `limit` at most 100. */
export type AddressListQuery = z.infer<typeof addressListSchema>;
/** Fields of a permanent deposit address, without its callback URL. */
export type AddressCreateRequest = z.infer<typeof addressCreateSchema>;

/** The checked request; throws InvalidRequestError naming every bad field. */
export function checkRequest<T>(schema: z.ZodType<T>, request: unknown): T {
  const checked = schema.safeParse(withoutNulls(request));
  if (!checked.success) throw new InvalidRequestError(fieldErrors(checked.error));
  return checked.data;
}
