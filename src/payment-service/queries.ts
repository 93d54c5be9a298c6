import { z } from 'zod';
import { ORDER_UUID_FORMAT } from '../contract/names.js';
import { CLIENT_FIELDS, REQUEST_FIELDS } from '../contract/order/request.js';
import { ORDER_TYPES } from '../contract/order/types.js';
import { serviceTime } from '../contract/reconcile/input.js';
import { withoutNulls } from '../contract/without-nulls.js';
import { fieldErrors } from '../validation/field-errors.js';
import { textErrors, textsIn } from '../validation/field-texts.js';
import { clientInfoSchema, currencySchema, descriptionSchema, networkSchema } from '../validation/request-schemas.js';
import { InvalidRequestError } from './errors.js';

/** Maximum orders per page, and maximum `order_ids` per request. */
export const MAX_ORDERS_PER_PAGE = 1000;
/** Maximum addresses per page. */
const MAX_ADDRESSES_PER_PAGE = 100;
/** Default page size of both lists. */
export const DEFAULT_PAGE_SIZE = 100;

/** Wider than our own ids, because the service also lists orders of other programs. */
const orderId = z
  .string()
  .regex(/^[^\p{Cc}]{1,255}$/u, 'must be 1 to 255 characters without control characters')
  .meta({ pattern: '^[^\u0000-\u001f\u007f-\u009f]{1,255}$' });
const orderUuid = z.string().regex(ORDER_UUID_FORMAT, 'must be 1 to 64 of A-Z a-z 0-9 _ -');
const page = z.int().min(1);

/** Returns true for ids that `order_ids` accepts. */
export const isOrderId = (id: string): boolean => orderId.safeParse(id).success;

/** Checked by a round trip: Date would turn 30 February into March. */
const dateTime = z.string().refine((text) => {
  const ms = Date.parse(`${text.replace(' ', 'T')}Z`);
  return !Number.isNaN(ms) && serviceTime(ms) === text;
}, 'must be a real date and time, written as YYYY-MM-DD hh:mm:ss');

/** Request of order/status: exactly one of `order_id` and `order_uuid`. */
export const orderStatusSchema = z
  .strictObject({ order_id: orderId.optional(), order_uuid: orderUuid.optional() })
  .refine((query) => (query.order_id === undefined) !== (query.order_uuid === undefined), {
    message: 'exactly one of order_id, order_uuid is needed',
    path: ['order_id'],
  });

/** Request of order/list. Refuses an empty `order_ids`, which might mean "all orders". */
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

/** Request of deposit_address/list; all fields optional. */
export const addressListSchema = z.strictObject({
  currency: currencySchema.optional(),
  network: networkSchema.optional(),
  limit: z.int().min(1).max(MAX_ADDRESSES_PER_PAGE).optional(),
  page: page.optional(),
});

const TITLE_FIELD = { address_title: REQUEST_FIELDS.description };

/** Request for a permanent deposit address. The worker adds the `callback_url`. */
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

/** Identifies one order. */
export type OrderStatusQuery = { order_id: string; order_uuid?: never } | { order_uuid: string; order_id?: never };
/** Filter of orders: `limit` at most 1000, dates as `YYYY-MM-DD hh:mm:ss`. */
export type OrderListQuery = z.infer<typeof orderListSchema>;

/** Extends a query by order ids to all times: a service may list only recent orders. */
export const ofAllTimes = (query: OrderListQuery): OrderListQuery =>
  query.order_id === undefined && query.order_ids === undefined
    ? query
    : { date_from: '2000-01-01 00:00:00', ...query };

/** Filter of deposit addresses: `limit` at most 100. */
export type AddressListQuery = z.infer<typeof addressListSchema>;
/** Fields of a permanent deposit address, without its callback URL. */
export type AddressCreateRequest = z.infer<typeof addressCreateSchema>;

/** Returns the checked request. Throws InvalidRequestError with every bad field. */
export function checkRequest<T>(schema: z.ZodType<T>, request: unknown): T {
  const checked = schema.safeParse(withoutNulls(request));
  if (!checked.success) throw new InvalidRequestError(fieldErrors(checked.error));
  return checked.data;
}
