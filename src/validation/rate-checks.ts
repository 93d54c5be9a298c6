import type Big from 'big.js';
import type { FieldError } from '../contract/failures.js';
import { maskName } from '../contract/masking.js';
import { type Amount, decimal, SIGNED_AMOUNT_FORMAT } from '../contract/money.js';
import type { Payers } from '../contract/order/activities.js';
import type { CreateRequest, RequestFields } from '../contract/order/request.js';
import { factsOf, type OrderType, orderSides } from '../contract/order/types.js';
import { isMalformed, type Malformed, type RateEntry, type Rates } from '../contract/service-objects.js';
import { precisionProblem, thousandsReading } from './amounts.js';
import type { FormatChecks } from './field-errors.js';

/** Returns an order's pair key in the rates, such as `usd_card-btc_bitcoin`. */
export function rateKeyOf(type: OrderType, order: CreateRequest): string {
  const { currencyFrom, networkFrom, currencyTo, networkTo } = orderSides(type, order);
  const side = (currency: string, network: string | null) => (network === null ? currency : `${currency}_${network}`);
  const { exchanges, startsWithDeposit } = factsOf(type);
  if (!exchanges) return startsWithDeposit ? side(currencyFrom, networkFrom) : side(currencyTo, networkTo);
  return `${side(currencyFrom, networkFrom)}-${side(currencyTo, networkTo)}`;
}

/** Fields of a pair, each currency before its network. */
const PAIR_FIELDS = ['currency_from', 'network_from', 'currency_to', 'network_to'] as const;

/**
 * Returns the first field without a pair of this type; otherwise the last one: only the combination
 * is unknown.
 */
function unofferedField(type: OrderType, order: RequestFields, entries: readonly RateEntry[]): string {
  const given = PAIR_FIELDS.flatMap((answered) => {
    const asked = factsOf(type).echoes.find(([, shown]) => shown === answered)?.[0];
    return asked !== undefined && order[asked] !== undefined ? [{ asked, answered }] : [];
  });
  const unknown = given.find(({ asked, answered }) => !entries.some((entry) => entry[answered] === order[asked]));
  return (unknown ?? given.at(-1))?.asked ?? 'currency';
}

/** Returns the amounts of a request whose decimal places the rates state. */
function statedAmounts(type: OrderType, order: CreateRequest, entry: RateEntry) {
  const { amount, amount_to, wallet_details }: RequestFields = order;
  const { currencyFrom, currencyTo } = orderSides(type, order);
  const from = { currency: currencyFrom, places: entry.currency_from_precision };
  const to = { currency: currencyTo, places: entry.currency_to_precision };
  const parts = Array.isArray(wallet_details) ? wallet_details : [];
  return [
    ...(amount === undefined ? [] : [{ field: 'order.amount', name: 'amount', amount, ...from }]),
    ...(amount_to === undefined ? [] : [{ field: 'order.amount_to', name: 'amount_to', amount: amount_to, ...to }]),
    ...parts.map((part, index) => {
      return { field: `order.wallet_details[${index}].amount`, name: 'amount', amount: part.amount, ...to };
    }),
  ].filter(({ places }) => Number.isInteger(places));
}

const limitOf = (limit: unknown): Big | undefined =>
  typeof limit === 'string' && SIGNED_AMOUNT_FORMAT.test(limit) ? decimal(limit) : undefined;

/** Ignores contradictory limits: they are the service's mistake, and it decides itself. */
function limitErrors(amount: Amount, entry: RateEntry): FieldError[] {
  const [min, max] = [limitOf(entry.min_amount_from), limitOf(entry.max_amount_from)];
  if (min && max && min.gt(max)) return [];
  const value = decimal(amount);
  const field = 'order.amount';
  const currency = entry.currency_from;
  if (min && value.lt(min)) return [{ field, reason: `below min_amount_from, ${min.toFixed()} ${currency}` }];
  if (max && value.gt(max)) return [{ field, reason: `above max_amount_from, ${max.toFixed()} ${currency}` }];
  return [];
}

function listed(type: OrderType, order: CreateRequest, rates: Rates): RateEntry | Malformed | undefined {
  const entries = rates[type] ?? {};
  const key = rateKeyOf(type, order);
  return Object.hasOwn(entries, key) ? entries[key] : undefined;
}

/** Returns the entry of an order's pair; undefined if it is not offered or unreadable. */
export function rateEntryOf(rates: Rates, type: OrderType, order: CreateRequest): RateEntry | undefined {
  const entry = listed(type, order, rates);
  return entry && !isMalformed(entry) ? entry : undefined;
}

/** Returns the payers of an order's commissions; undefined without rates or pair. */
export function payersOf(rates: Rates | undefined, type: OrderType, order: CreateRequest): Payers | undefined {
  const entry = rates && rateEntryOf(rates, type, order);
  return entry && { from: entry.fee_percent_from_payer, to: entry.fee_percent_to_payer };
}

const notOffered = (type: OrderType, order: CreateRequest): string =>
  `pair ${maskName(rateKeyOf(type, order))} is not offered for ${type}`;

/** Returns why an order is sent unchecked: unreadable rate, or with 'warn' an unknown pair. */
export function uncheckableBy(
  rates: Rates,
  type: OrderType,
  order: CreateRequest,
  formatChecks?: FormatChecks,
): string | undefined {
  const entry = listed(type, order, rates);
  if (!entry) return formatChecks === 'warn' ? notOffered(type, order) : undefined;
  if (!isMalformed(entry)) return undefined;
  return `the rates of pair ${maskName(rateKeyOf(type, order))} could not be read (${entry.malformed})`;
}

/**
 * Checks an order against the rates: pair, decimal places, limits. Limits apply to `amount` only,
 * because the service derives it from `amount_to`.
 */
export function checkAgainstRates(type: OrderType, order: CreateRequest, rates: Rates): FieldError[] {
  const entry = listed(type, order, rates);
  if (!entry) {
    const offered = Object.values(rates[type] ?? {}).flatMap((other) => (isMalformed(other) ? [] : [other]));
    const field = `order.${unofferedField(type, order, offered)}`;
    return [{ field, reason: notOffered(type, order) }];
  }
  if (isMalformed(entry)) return [];
  const { amount }: RequestFields = order;
  const tooPrecise = statedAmounts(type, order, entry).flatMap(({ field, name, amount: stated, currency, places }) => {
    const reason = precisionProblem(name, stated, currency, places);
    return reason ? [{ field, reason }] : [];
  });
  return [...tooPrecise, ...(amount === undefined ? [] : limitErrors(amount, entry))];
}

/** Returns the other reading of an amount that may mean thousands; undefined without one. */
export function amountLikeThousands(type: OrderType, order: CreateRequest, rates: Rates): string | undefined {
  const entry = rateEntryOf(rates, type, order);
  const amounts = entry ? statedAmounts(type, order, entry) : [];
  return amounts.map(({ amount, currency, places }) => thousandsReading(amount, currency, places)).find(Boolean);
}
