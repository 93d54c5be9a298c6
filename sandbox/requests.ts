import { LosslessNumber, parse } from 'lossless-json';
import { z } from 'zod';
import { isDateTime } from './clock.js';
import { decimal, ZERO } from './money.js';
import { ORDER_TYPES, type OrderType } from './rates.js';

/** A request the service answers with 400: which fields, and why. Values are never repeated. */
export class BadRequest extends Error {
  override readonly name = 'BadRequest';
  constructor(readonly errors: Readonly<Record<string, string>>) {
    super(Object.keys(errors).join(', '));
  }
}

const numberToken = z.instanceof(LosslessNumber, { error: 'must be a JSON number' }).transform(({ value }) => value);

/** A JSON number kept as written, so that 18 decimals survive: no sign, no exponent. */
const amount = numberToken
  .pipe(
    z
      .string()
      .max(60)
      .regex(/^(0|[1-9]\d*)(\.\d+)?$/, { error: 'must be a plain decimal number' }),
  )
  .refine((value) => decimal(value).gt(0), { error: 'must be greater than 0' });

const integer = (min: number, max: number) =>
  numberToken
    .pipe(z.string().regex(/^\d{1,9}$/, { error: 'must be an integer' }))
    .transform(Number)
    .pipe(z.number().min(min).max(max));

const name = z.string().min(1).max(255);
const optionalText = z.string().nullish();
const dateTime = z.string().refine(isDateTime, { error: 'must be a date of the form Y-m-d H:i:s' });
const clientInfo = z
  .strictObject({ client_id: z.string(), client_ip: z.string(), client_email: z.string() })
  .partial()
  .nullish();

const common = { order_id: name, callback_url: optionalText, description: optionalText, client_info: clientInfo };
const payout = { wallet: name, wallet_memo: optionalText, wallet_details: z.unknown().optional() };
const eitherAmount = { amount: amount.optional(), amount_to: amount.optional() };
const delay = { delay_order_for_minutes: integer(0, 999_999_999).optional() };

const CREATE_SCHEMAS: Readonly<Record<OrderType, z.ZodType<CreateBody>>> = {
  deposit: z.strictObject({ ...common, currency: name, network: name, amount }),
  deposit_exchange: z.strictObject({ ...common, currency_from: name, network_from: name, amount, currency_to: name }),
  deposit_exchange_withdraw: z.strictObject({
    ...common,
    ...payout,
    ...eitherAmount,
    currency_from: name,
    network_from: name,
    currency_to: name,
    network_to: name,
  }),
  exchange: z.strictObject({ ...common, currency_from: name, currency_to: name, amount }),
  exchange_withdraw: z.strictObject({
    ...common,
    ...payout,
    ...eitherAmount,
    ...delay,
    currency_from: name,
    currency_to: name,
    network_to: name,
  }),
  withdraw: z.strictObject({ ...common, ...payout, ...delay, currency: name, network: name, amount }),
};

/** A checked create body; which fields occur depends on the order type. */
export interface CreateBody {
  order_id: string;
  callback_url?: string | null;
  description?: string | null;
  client_info?: Record<string, string | undefined> | null;
  currency?: string;
  network?: string;
  currency_from?: string;
  network_from?: string;
  currency_to?: string;
  network_to?: string;
  amount?: string;
  amount_to?: string;
  wallet?: string;
  wallet_memo?: string | null;
  wallet_details?: unknown;
  delay_order_for_minutes?: number;
}

const DETAILS: Readonly<Record<string, z.ZodType>> = {
  bank: z.strictObject({ bank_code: name }),
  bank_ua: z.strictObject({ recipient_bank: name, recipient_name: name, taxpayer_number: name }),
  sepa: z.strictObject({ recipient_email: name, recipient_name: name }),
  multiple_cards: z.array(z.strictObject({ amount, wallet: name })).min(1),
};

const page = integer(1, 999_999_999).default(1);

/** Body of the order status operation. */
export const STATUS_SCHEMA = z
  .strictObject({ order_id: name.optional(), order_uuid: name.optional() })
  .refine((body) => (body.order_id === undefined) !== (body.order_uuid === undefined), {
    error: 'exactly one of order_id, order_uuid',
  });

/** Body of the order list operation. */
export const LIST_SCHEMA = z
  .strictObject({
    currency_from: name,
    network_from: name,
    currency_to: name,
    network_to: name,
    date_from: dateTime,
    date_to: dateTime,
    order_type: z.enum(ORDER_TYPES),
    status: z.enum(['new', 'processing', 'completed', 'completed_partially', 'canceled', 'error']),
    order_id: name,
    order_ids: z.array(name).min(1).max(1000),
  })
  .partial()
  .extend({ limit: integer(1, 1000).default(100), page });

/** Body of the deposit address creation. */
export const ADDRESS_SCHEMA = z.strictObject({
  currency: name,
  network: name,
  currency_to: optionalText,
  callback_url: optionalText,
  address_title: optionalText,
  client_info: clientInfo,
});

/** Body of the deposit address list. */
export const ADDRESS_LIST_SCHEMA = z.strictObject({
  currency: name.optional(),
  network: name.optional(),
  limit: integer(1, 100).default(100),
  page,
});

/** Body of rates and balances: the empty object. */
export const EMPTY_SCHEMA = z.strictObject({});

/** A checked body of the order list operation. */
export type ListQuery = z.infer<typeof LIST_SCHEMA>;
/** A checked body of the deposit address creation. */
export type AddressBody = z.infer<typeof ADDRESS_SCHEMA>;
/** A checked body of the deposit address list. */
export type AddressQuery = z.infer<typeof ADDRESS_LIST_SCHEMA>;

/** Parses a JSON body, numbers kept as written. Throws BadRequest. */
export function parseBody(bytes: Uint8Array): unknown {
  try {
    return parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new BadRequest({ body: 'must be JSON in UTF-8' });
  }
}

/** Checks a value against a schema. Throws BadRequest with every bad field. */
export function check<T>(schema: z.ZodType<T>, value: unknown, prefix: string[] = []): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors = result.error.issues.flatMap((issue) => {
    const path = [...prefix, ...issue.path.map(String)].join('.') || 'body';
    if (issue.code !== 'unrecognized_keys') return [[path, issue.message] as const];
    return issue.keys.map(
      (key) => [path === 'body' ? key : `${path}.${key}`, 'is not a field of this operation'] as const,
    );
  });
  throw new BadRequest(Object.fromEntries(errors));
}

/** Checks a create body of a type, all but what needs the pair's terms. Throws BadRequest. */
export function checkCreate(type: OrderType, value: unknown): CreateBody {
  const body = check(CREATE_SCHEMAS[type], value);
  if ((body.amount === undefined) === (body.amount_to === undefined)) {
    throw new BadRequest({ amount: 'exactly one of amount, amount_to' });
  }
  if (body.wallet === undefined) return body;
  const details = checkDetails(body.network_to ?? body.network ?? '', body.wallet_details);
  const paidOut = type === 'withdraw' ? body.amount : body.amount_to;
  checkCards(details, paidOut);
  return { ...body, wallet_details: details };
}

function checkDetails(network: string, details: unknown): unknown {
  const schema = DETAILS[network];
  if (details === undefined || details === null) {
    // The interface calls details optional; a payout to several cards cannot be understood without them.
    if (network === 'multiple_cards') throw new BadRequest({ wallet_details: 'needs the list of cards' });
    return null;
  }
  if (!schema) throw new BadRequest({ wallet_details: 'this network takes none' });
  return check(schema, details, ['wallet_details']);
}

/** The cards' amounts must add up to what is paid out. With `amount` of another currency there is nothing to compare. */
function checkCards(details: unknown, paidOut: string | undefined): void {
  if (!Array.isArray(details) || paidOut === undefined) return;
  const total = details.reduce((sum, card: { amount: string }) => sum.plus(card.amount), ZERO);
  if (!total.eq(paidOut)) throw new BadRequest({ wallet_details: 'the amounts do not add up to the payout' });
}
