import { ORDER_PLACES, parseFault } from './faults.js';
import { type Marker, markerNumber, readMarker } from './markers.js';
import { decimal } from './money.js';
import { DUPLICATE_MODES } from './options.js';
import type { NewOrder } from './orders.js';
import { planOrder } from './plan.js';
import { type Quote, quoteFrom, quoteTo } from './quote.js';
import { findTerms, inPrecision, type OrderType, type Pair, type Terms } from './rates.js';
import { BadRequest, type CreateBody } from './requests.js';
import type { World } from './world.js';

const NUMBERS = [
  'times',
  'status_times',
  'list_times',
  'later_ms',
  'slow_ms',
  'lag_ms',
  'status_lag_ms',
  'list_lag_ms',
  'callback_copies',
] as const;

/** Runs what reads a marker; its RangeErrors become a BadRequest about the description. */
function explained<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) throw new BadRequest({ description: error.message });
    throw error;
  }
}

/** Reads the marker and refuses a wrong one: a fault that silently never happens makes a test worthless. */
export function checkMarker(description: string | null | undefined): Marker {
  return explained(() => {
    const marker = readMarker(description);
    for (const place of ORDER_PLACES) {
      const name = marker[place];
      if (name !== undefined && !parseFault(place, name)) throw new RangeError(`unknown sandbox fault at ${place}`);
    }
    const { duplicate, callback } = marker;
    if (duplicate !== undefined && !(DUPLICATE_MODES as readonly string[]).includes(duplicate)) {
      throw new RangeError('sandbox marker duplicate must be one of a to e');
    }
    if (callback !== undefined && callback !== 'drop') throw new RangeError('sandbox marker callback must be drop');
    for (const key of NUMBERS) markerNumber(marker, key);
    return marker;
  });
}

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
  const terms = findTerms(type, pairOf(type, body));
  if (!terms) throw new BadRequest({ currency: 'no such pair for this order type' });
  const quote = quoteOf(body, terms);
  return {
    orderId: body.order_id,
    terms,
    quote,
    plan: explained(() => planOrder(type, body.order_id, marker, world.settings.outcomes, world.options.seed)),
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
