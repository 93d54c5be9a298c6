import { checkedMarker } from './marker-checks.js';
import type { Marker } from './markers.js';
import { decimal } from './money.js';
import type { NewOrder } from './orders.js';
import { planOrder } from './plan.js';
import { type Quote, quoteFrom, quoteTo } from './quote.js';
import { inPrecision, type OrderType, type Pair, type Terms } from './rates.js';
import { BadRequest, type CreateBody } from './requests.js';
import { termsNow, type World } from './world.js';

/** A field that may hold a marker. */
type MarkerField = 'description' | 'address_title';

/** Runs what reads a marker; its RangeErrors become a BadRequest about the field that holds it. */
function explained<T>(field: MarkerField, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) throw new BadRequest({ [field]: error.message });
    throw error;
  }
}

/** Reads the marker of a field. Throws BadRequest for a wrong one. */
export const checkMarker = (field: MarkerField, value: string | null): Marker =>
  explained(field, () => checkedMarker(value, field === 'description' ? 'create' : 'address-create'));

function pairOf(type: OrderType, body: CreateBody): Pair {
  const { currency = '', network = '' } = body;
  if (type === 'deposit')
    return { currencyFrom: currency, networkFrom: network, currencyTo: currency, networkTo: null };
  if (type === 'withdraw')
    return { currencyFrom: currency, networkFrom: null, currencyTo: currency, networkTo: network };
  return {
    currencyFrom: body.currency_from ?? '',
    networkFrom: body.network_from ?? null,
    currencyTo: body.currency_to ?? '',
    networkTo: body.network_to ?? null,
  };
}

/** The quote of a checked request. Throws BadRequest for amounts the pair does not admit. */
function quoteOf(body: CreateBody, terms: Terms): Quote {
  const [field, amount, precision] =
    body.amount_to === undefined
      ? (['amount', body.amount ?? '', terms.precisionFrom] as const)
      : (['amount_to', body.amount_to, terms.precisionTo] as const);
  if (!inPrecision(amount, precision)) throw new BadRequest({ [field]: `has more than ${precision} decimals` });
  const quote = field === 'amount' ? quoteFrom(amount, terms) : quoteTo(amount, terms);
  if (decimal(quote.from).lt(terms.min)) throw new BadRequest({ [field]: 'is below the minimum of the pair' });
  if (terms.max !== null && decimal(quote.from).gt(terms.max)) {
    throw new BadRequest({ [field]: 'is above the maximum of the pair' });
  }
  if (decimal(quote.credited).lte(0) || decimal(quote.to).lte(0)) {
    throw new BadRequest({ [field]: 'does not cover the commission' });
  }
  return quote;
}

/** What a checked request orders. Throws BadRequest for unknown pairs, bad amounts and bad marker values. */
export function newOrder(world: World, type: OrderType, body: CreateBody, marker: Marker): NewOrder {
  const terms = termsNow(world, type, pairOf(type, body));
  if (!terms) throw new BadRequest({ currency: 'no such pair for this order type' });
  const quote = quoteOf(body, terms);
  const { order_id: orderId } = body;
  return {
    key: orderId,
    orderId,
    terms,
    quote,
    plan: explained('description', () => planOrder(type, orderId, marker, world.settings, world.options.seed)),
    strict: body.amount_to !== undefined,
    description: body.description ?? null,
    callbackUrl: body.callback_url ?? null,
    clientInfo: body.client_info ?? {},
    wallet: body.wallet ?? null,
    walletMemo: body.wallet_memo ?? null,
    walletDetails: body.wallet_details ?? null,
    delayMinutes: body.delay_order_for_minutes,
  };
}
