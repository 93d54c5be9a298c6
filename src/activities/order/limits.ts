import Big from 'big.js';
import type { FieldError } from '../../contract/failures.js';
import { type Amount, covers, decimal, decimalOrZero, sum, toAmount } from '../../contract/money.js';
import type { CreateOrderInput, CreateVerdict } from '../../contract/order/activities.js';
import type { RunInput } from '../../contract/order/input-and-result.js';
import type { ApprovedAmount } from '../../contract/order/messages.js';
import type { CreateRequest, RequestFields } from '../../contract/order/request.js';
import { lowestCaps } from '../../contract/order/stricter.js';
import { amountsOf, factsOf, type OrderType, orderSides } from '../../contract/order/types.js';
import type { Balances, Order, Rates } from '../../contract/service-objects.js';
import { checkAgainstRates, uncheckableBy } from '../../validation/rate-checks.js';
import type { Account, ActivityDeps } from '../deps.js';
import { invalidOrder } from '../failures.js';
import { protectionsIn } from '../protections.js';
import { neededFor, shortfall, unreadableBalance } from './balances.js';
import { notSent } from './create-attempt.js';
import { mostOfOtherSide } from './other-side.js';

/** Maximum wait for balances. Without them, a create skips the check. */
const BALANCES_TIMEOUT_MS = 5_000;
const ZERO = new Big(0);

/** Rates and balances for limits. Balances are undefined unless they are checked. */
export interface Terms {
  rates: Rates | undefined;
  balances: Balances | 'unread' | undefined;
}

/** Reads the terms of an attempt, with fresh rates if a cap or a policy estimates by them. */
export async function readTerms(
  deps: ActivityDeps,
  account: Account,
  attempt: Pick<CreateOrderInput, 'type' | 'permission' | 'caps' | 'funded' | 'input'>,
  request: CreateRequest,
): Promise<Terms> {
  const { type, permission } = attempt;
  const isLimited =
    capOnEstimate(capsFor(deps, account, attempt), type, request) !== undefined ||
    (factsOf(type).exchanges && deps.policies?.has(account.name));
  const rates = await (isLimited && permission !== 'none' ? account.rates.reread() : account.rates.current());
  const whenShort = whenShortOf(attempt);
  // For orders that wait, the line of the account reads the balance.
  const isRead = (whenShort === 'refuse' || whenShort === 'ask') && factsOf(type).movesMoneyAtOnce;
  const balances = isRead ? account.service.balances({ timeoutMs: BALANCES_TIMEOUT_MS }) : undefined;
  return { rates, balances: await balances?.catch(() => 'unread' as const) };
}

/** Returns errors by the rates, what was not checked, and why the balance is `short`. */
export function beyondLimits(
  { formatChecks }: Account,
  type: OrderType,
  request: CreateRequest,
  { rates, balances }: Terms,
): { errors: FieldError[]; notes: string[]; short?: string | undefined } {
  const noted = (note: string) => ({ errors: [], notes: [note] });
  if (!rates) return noted('rates were not to be had: limits, precision and balance were not checked');
  const uncheckable = uncheckableBy(rates, type, request, formatChecks);
  if (uncheckable) return noted(`${uncheckable}: limits, precision and balance were not checked`);
  const errors = checkAgainstRates(type, request, rates);
  if (errors.length > 0 || !balances) return { errors, notes: [] };
  if (balances === 'unread') return noted('balances were not to be had: the balance was not checked');
  const unknown = unreadableBalance(balances, type, request);
  if (unknown) return noted(`${unknown}: it was not checked`);
  return { errors, notes: [], short: shortfall(balances, rates, type, request) };
}

/** Returns both sides of an order, with the highest amount that the request names of each. */
function sidesOf(
  type: OrderType,
  request: CreateRequest,
): { given: string; other?: string; asked?: Amount; otherAsked?: Amount } {
  const { amount }: RequestFields = request;
  const { currencyFrom, currencyTo } = orderSides(type, request);
  const [given, other] = amount == null ? [currencyTo, currencyFrom] : [currencyFrom, currencyTo];
  const named = amountsOf(type, request).toSorted((a, b) => decimal(b.amount).cmp(a.amount));
  const [asked, otherAsked] = [given, other].map((side) => named.find(({ currency }) => currency === side)?.amount);
  return { given, ...(asked && { asked }), ...(other !== given && { other, ...(otherAsked && { otherAsked }) }) };
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
  const { given, other = given, asked, otherAsked } = sidesOf(type, request);
  const cap = caps.get(given);
  const isAbove = asked !== undefined && cap !== undefined && decimal(asked).gt(cap);
  const reason = isAbove ? `${asked} ${given} is above the cap of ${cap} ${given} for one order` : '';
  const otherCap = capOnEstimate(caps, type, request);
  const estimated = otherCap === undefined ? undefined : mostOfOtherSide(type, request, rates);
  // The cards of an order by `amount` may name more than it brings.
  const isNamed = estimated !== undefined && otherAsked !== undefined && decimal(otherAsked).gt(estimated);
  const most = isNamed ? decimal(otherAsked) : estimated;
  const isOtherAbove = otherCap !== undefined && !most?.lte(otherCap);
  // Every question names the given amount, which never changes, so any approval covers it.
  if (!isOtherAbove) return isAbove && !approved ? { reason, amount: asked, currency: given } : undefined;
  const amount = most && toAmount(most);
  if (approved?.currency === other && covers(approved.amount, amount)) return undefined;
  const estimate = most
    ? `up to ${amount} ${other}, ${isNamed ? 'as its cards add up' : 'estimated from the rates'}, is above the cap of ${otherCap} ${other} for one order`
    : `what it ${request.amount == null ? 'takes' : 'brings'} in ${other} cannot be estimated, and there is a cap of ${otherCap} ${other} for one order`;
  const texts = [estimate, reason || `it asks for ${asked} ${given}`, approvedText(approved)];
  return { reason: texts.filter(Boolean).join('; '), currency: other, ...(amount && { amount }) };
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

/** An attempt that may send, as limits need it. */
export interface Attempted {
  deps: ActivityDeps;
  account: Account;
  attempt: CreateOrderInput;
  request: CreateRequest;
  terms: Terms;
  notes: Set<string>;
}

/**
 * Returns why nothing is sent by caps, `policy` and funds, and notes what was not checked. Throws
 * InvalidOrder on first sends only, because it means that no order exists.
 */
export async function refusedByLimits(
  { deps, account, attempt, request, terms, notes }: Attempted,
  policy: CreateVerdict | undefined,
): Promise<CreateVerdict | undefined> {
  const { type, permission, approved } = attempt;
  const limits = permission === 'first' ? beyondLimits(account, type, request, terms) : NO_LIMITS;
  const { short } = limits;
  const isRefused = short !== undefined && whenShortOf(attempt) === 'refuse';
  const errors = isRefused ? [{ field: 'order.amount', reason: short }] : limits.errors;
  if (errors.length > 0) throw invalidOrder(errors);
  for (const note of limits.notes) notes.add(note);
  const cap = exceededCap(capsFor(deps, account, attempt), type, request, terms.rates, approved);
  // The service gave rates a short time ago, so one failed read needs no operator.
  if (cap && !terms.rates && cap.amount === undefined && (await account.rates.current())) {
    return notSent('the rates that a cap depends on could not be read again');
  }
  return cap ? { kind: 'overCap', ...cap } : (policy ?? shortOfFunds(attempt, request, terms, short));
}

const NO_LIMITS: ReturnType<typeof beyondLimits> = { errors: [], notes: [] };

/** Returns `whenShort` while it decides: before any send, and before the order has its funds. */
const whenShortOf = ({
  permission,
  funded,
  input,
}: Pick<CreateOrderInput, 'permission' | 'funded' | 'input'>): RunInput['whenShort'] =>
  permission === 'first' && !funded ? (Object(input) as RunInput).whenShort : undefined;

/** Returns the verdict of an order that asks or waits. */
function shortOfFunds(
  attempt: CreateOrderInput,
  request: CreateRequest,
  { rates }: Terms,
  short: string | undefined,
): CreateVerdict | undefined {
  const whenShort = whenShortOf(attempt);
  const needed = neededFor(rates, attempt.type, request);
  if (!needed || whenShort === undefined || (!short && (whenShort === 'ask' || whenShort === 'refuse')))
    return undefined;
  return { kind: 'short', reason: short ?? `it needs ${needed.amount} ${needed.currency}`, ...needed };
}
