import Big from 'big.js';
import {
  type Amount,
  decimal,
  decimalOrZero,
  divide,
  isPlaces,
  MAX_PLACES,
  SIGNED_AMOUNT_FORMAT,
  sum,
  toAmount,
} from '../../contract/money.js';
import type { CreateOrderInput, CreateVerdict } from '../../contract/order/activities.js';
import type { ApprovedAmount } from '../../contract/order/messages.js';
import type { CreateRequest, RequestFields } from '../../contract/order/request.js';
import { lowestCaps } from '../../contract/order/stricter.js';
import { factsOf, type OrderType, orderSides } from '../../contract/order/types.js';
import { type Balances, isMalformed, type Order, type RateEntry, type Rates } from '../../contract/service-objects.js';
import { checkAgainstRates, rateEntryOf, uncheckableBy } from '../../validation/rate-checks.js';
import type { Account, ActivityDeps } from '../deps.js';
import { invalidOrder } from '../failures.js';
import { protectionsIn } from '../protections.js';
import { commission, shortfall, unreadableBalance } from './balances.js';

/** Maximum wait for balances. Without them, a create skips the check. */
const BALANCES_TIMEOUT_MS = 5_000;
/** Margin for rates that move before the exchange. */
const RATES_MOVE = new Big('1.05');

/** Factor between the likelihoods of two directions at which the less likely one is excluded. */
const CLEARLY = 50;
/** Smallest orders that differ by more than this factor are unrelated. */
const MOST_APART = 30;

const ZERO = new Big(0);
const ONE = new Big(1);
const HUNDRED = new Big(100);
const ROUND_UP = 3;

/** Rates and balances for limits. Balances are undefined unless they are checked. */
export interface Terms {
  rates: Rates | undefined;
  balances: Balances | 'unread' | undefined;
}

/** Reads the terms of an attempt, with fresh rates if a cap (PAYMENT_ORDER_CAPS) needs them. */
export async function readTerms(
  deps: ActivityDeps,
  account: Account,
  attempt: CreateOrderInput,
  request: CreateRequest,
): Promise<Terms> {
  const { type, permission } = attempt;
  const isCapped = permission !== 'none' && capOnEstimate(capsFor(deps, account, attempt), type, request) !== undefined;
  const rates = await (isCapped ? account.rates.reread() : account.rates.current());
  const isChecked = deps.checkBalance && permission === 'first' && factsOf(type).movesMoneyAtOnce;
  const balances = isChecked ? account.service.balances({ timeoutMs: BALANCES_TIMEOUT_MS }) : undefined;
  return { rates, balances: await balances?.catch(() => 'unread' as const) };
}

/** Throws InvalidOrder if rates or balance exclude an order. Returns what was not checked. */
export function refuseBeyondLimits(
  { formatChecks }: Account,
  type: OrderType,
  request: CreateRequest,
  { rates, balances }: Terms,
): string[] {
  if (!rates) return ['rates were not to be had: limits, precision and balance were not checked'];
  const uncheckable = uncheckableBy(rates, type, request, formatChecks);
  if (uncheckable) return [`${uncheckable}: limits, precision and balance were not checked`];
  const errors = checkAgainstRates(type, request, rates);
  if (errors.length > 0) throw invalidOrder(errors);
  if (!balances) return [];
  if (balances === 'unread') return ['balances were not to be had: the balance was not checked'];
  const unknown = unreadableBalance(balances, type, request);
  if (unknown) return [`${unknown}: it was not checked`];
  const reason = shortfall(balances, rates, type, request);
  if (reason) throw invalidOrder([{ field: 'order.amount', reason }]);
  return [];
}

/** Returns both sides of an order: the request names `given`; `other` is estimated. */
function sidesOf(type: OrderType, request: CreateRequest): { given: string; other?: string; asked?: Amount } {
  const { amount, amount_to }: RequestFields = request;
  const { currencyFrom, currencyTo } = orderSides(type, request);
  const [given, other] = amount == null ? [currencyTo, currencyFrom] : [currencyFrom, currencyTo];
  const asked = amount ?? amount_to;
  // The request may be unchecked.
  const isAmount = asked != null && SIGNED_AMOUNT_FORMAT.test(asked);
  return { given, ...(other !== given && { other }), ...(isAmount && { asked }) };
}

/** Maximum amount of one order, by currency. */
type Caps = ReadonlyMap<string, Amount>;

function capOnEstimate(caps: Caps, type: OrderType, request: CreateRequest): Amount | undefined {
  const { other } = sidesOf(type, request);
  return other === undefined ? undefined : caps.get(other);
}

/** Cap that an order exceeds. Without `amount`, the rates cannot estimate the order. */
type OverCap = Omit<Extract<CreateVerdict, { kind: 'overCap' }>, 'kind'>;

/**
 * Returns the exceeded cap of the given side, or of the other side's highest estimate, unless
 * approved.
 */
export function exceededCap(
  caps: Caps,
  type: OrderType,
  request: CreateRequest,
  rates: Rates | undefined,
  approved?: ApprovedAmount,
): OverCap | undefined {
  const { given, other = given, asked } = sidesOf(type, request);
  const cap = caps.get(given);
  const isAbove = asked !== undefined && cap !== undefined && decimal(asked).gt(cap);
  const reason = isAbove ? `${asked} ${given} is above the cap of ${cap} ${given} for one order` : '';
  const otherCap = capOnEstimate(caps, type, request);
  const most = otherCap === undefined ? undefined : mostOfOtherSide(type, request, rates);
  const isOtherAbove = otherCap !== undefined && !most?.lte(otherCap);
  // Every question names the given amount, which never changes, so any approval covers it.
  if (!isOtherAbove) return isAbove && !approved ? { reason, amount: asked, currency: given } : undefined;
  if (coversEstimate(approved, other, most)) return undefined;
  const amount = most && toAmount(most);
  const estimate = most
    ? `up to ${amount} ${other}, estimated from the rates, is above the cap of ${otherCap} ${other} for one order`
    : `what it ${request.amount == null ? 'takes' : 'brings'} in ${other} cannot be estimated, and there is a cap of ${otherCap} ${other} for one order`;
  const texts = [estimate, reason || `it asks for ${asked} ${given}`, approvedText(approved)];
  return { reason: texts.filter(Boolean).join('; '), currency: other, ...(amount && { amount }) };
}

/** Returns true if an approval covers an estimate: up to its amount, or if there is no estimate. */
function coversEstimate(approved: ApprovedAmount | undefined, currency: string, most: Big | undefined): boolean {
  if (approved?.currency !== currency) return false;
  return most && approved.amount !== undefined ? most.lte(approved.amount) : !most && approved.amount === undefined;
}

const approvedText = (approved: ApprovedAmount | undefined): string =>
  approved?.amount === undefined ? '' : `${approved.amount} ${approved.currency} is approved`;

/** Returns why an accepted order exceeds caps and approval; {} if it does not. */
export function aboveLimits(
  caps: Caps,
  { type, request, approved }: Pick<CreateOrderInput, 'type' | 'approved'> & { request: CreateRequest },
  order: Order,
): { aboveCap?: string } {
  const { given, asked } = sidesOf(type, request);
  const { currencyFrom, currencyTo } = orderSides(type, request);
  const sides = [
    { currency: currencyFrom, expected: order.expected_amount_from, fee: order.amount_from_fee },
    { currency: currencyTo, expected: order.expected_amount_to, fee: order.amount_to_fee },
  ];
  // The service may add its commissions to the requested amount.
  const fees = sum(sides.map(({ currency, fee }) => (currency === given ? decimalOrZero(fee) : ZERO)));
  for (const { currency, expected } of sides) {
    const cap = caps.get(currency);
    const allowed = currency === given ? asked : approved?.currency === currency ? approved.amount : undefined;
    const limit = cap !== undefined && allowed !== undefined && decimal(allowed).gt(cap) ? allowed : cap;
    const amount = decimal(expected).minus(currency === given ? fees : ZERO);
    if (limit === undefined || amount.lte(limit)) continue;
    const what = limit === cap ? `the cap of ${cap} ${currency} for one order` : `the approved ${limit} ${currency}`;
    return { aboveCap: `order ${order.order_uuid} comes to ${expected} ${currency}, which is above ${what}` };
  }
  return {};
}

/** Returns the lowest caps of the account's workers and of the order's earlier attempts. */
export const capsFor = (deps: ActivityDeps, account: Account, { caps = {} }: Pick<CreateOrderInput, 'caps'>) =>
  lowestCaps(protectionsIn(deps, account).caps, Object.entries(caps));

/** Returns the caps of an order's currencies as a field to spread; {} without any. */
export function capsOn(
  type: OrderType,
  request: CreateRequest,
  caps: ReadonlyMap<string, string>,
): { caps?: Record<string, string> } {
  if (caps.size === 0) return {};
  const { currencyFrom, currencyTo } = orderSides(type, request);
  const own = [...caps].filter(([currency]) => currency === currencyFrom || currency === currencyTo);
  return own.length > 0 ? { caps: Object.fromEntries(own) } : {};
}

/** Returns the highest estimate of the other side with all commissions; undefined without rates. */
export function mostOfOtherSide(type: OrderType, request: CreateRequest, rates: Rates | undefined): Big | undefined {
  const entry = rates && rateEntryOf(rates, type, request);
  if (!entry) return undefined;
  const factors = factorsOf(type, request, entry, rates);
  const { amount, amount_to }: RequestFields = request;
  if (amount != null) {
    const most = largest(factors.map((factor) => decimal(amount).times(factor)))?.times(RATES_MOVE);
    return most && rounded(most.plus(commission(entry, 'to', most)), entry.currency_to_precision);
  }
  const out = amount_to == null ? undefined : withFee(decimal(amount_to), entry, 'to');
  const most = out && largest(factors.map((factor) => divide(out, factor)))?.times(RATES_MOVE);
  const taken = most && withFee(most, entry, 'from');
  return taken && rounded(taken, entry.currency_from_precision);
}

/**
 * Returns the factors between two currencies: the direction of a rate is undocumented. Comparing
 * the smallest orders may exclude one direction.
 */
function factorsOf(type: OrderType, request: CreateRequest, { exchange_rate }: RateEntry, rates: Rates): Big[] {
  const { currencyFrom, currencyTo } = orderSides(type, request);
  if (currencyFrom === currencyTo) return [ONE];
  const rate = positive(exchange_rate);
  if (!rate) return [];
  const both = [rate, divide(ONE, rate)];
  const [from, to] = [smallestOrder(rates, currencyFrom), smallestOrder(rates, currencyTo)];
  if (!from || !to) return both;
  const [near, far] = both
    .map((factor) => ({ factor, apart: timesApart(from.times(factor), to) }))
    .sort((a, b) => a.apart.cmp(b.apart));
  const isClear = near && far && near.apart.lte(MOST_APART) && far.apart.gte(near.apart.times(CLEARLY));
  return isClear ? [near.factor] : both;
}

/**
 * Returns the median of a currency's minimums. Smallest units are placeholders and do not count.
 */
function smallestOrder(rates: Rates, currency: string): Big | undefined {
  const minimums = Object.values(rates)
    .flatMap((entries) => Object.values(entries))
    .flatMap((entry) => (isMalformed(entry) || entry.currency_from !== currency ? [] : entry))
    .flatMap(({ min_amount_from, currency_from_precision: places }) => {
      const minimum = positive(min_amount_from);
      return minimum && isPlaces(places) && minimum.gt(`1e-${places}`) ? minimum : [];
    });
  return minimums.toSorted((a, b) => a.cmp(b))[Math.floor(minimums.length / 2)];
}

const timesApart = (a: Big, b: Big): Big => (a.gt(b) ? divide(a, b) : divide(b, a));

/** Returns the amount that leaves `wanted` after a side's commission; undefined from 100 %. */
function withFee(wanted: Big, entry: RateEntry, side: 'from' | 'to'): Big | undefined {
  const fee = (name: 'fee_percent' | 'fixed_fee_amount' | 'min_fee_amount') =>
    positive(entry[`${name}_${side}`]) ?? ZERO;
  const share = ONE.minus(divide(fee('fee_percent'), HUNDRED));
  if (!share.gt(0)) return undefined;
  const withFixed = wanted.plus(fee('fixed_fee_amount'));
  return largest([divide(withFixed, share), withFixed.plus(fee('min_fee_amount'))]);
}

const positive = (amount: string | null): Big | undefined => {
  const value = amount !== null && SIGNED_AMOUNT_FORMAT.test(amount) ? decimal(amount) : undefined;
  return value?.gt(0) ? value : undefined;
};

const largest = (amounts: readonly Big[]): Big | undefined => amounts.toSorted((a, b) => b.cmp(a))[0];

const rounded = (amount: Big, places: number): Big => amount.round(isPlaces(places) ? places : MAX_PLACES, ROUND_UP);
