import { createHmac } from 'node:crypto';
import type { Policy } from '../../config.js';
import { type Amount, decimal, toAmount } from '../../contract/money.js';
import type { CardPart, CreateRequest, RequestFields } from '../../contract/order/request.js';
import { amountsOf, factsOf, type OrderType, orderSides } from '../../contract/order/types.js';
import type { Payout } from '../../contract/policy/rules.js';
import type { Rates } from '../../contract/service-objects.js';
import { MULTIPLE_CARDS } from '../../contract/wallets.js';
import { digestOfJson } from '../../temporal/published.js';
import { payeeText } from '../../validation/payee-text.js';
import { mostOfOtherSide } from '../order/other-side.js';

/** Length of a payee's hash in bytes: 96 bits keep histories small. */
const HASH_BYTES = 12;

/** Returns the keyed hash of a payee. */
export const payeeOf = (key: string, ...payee: Parameters<typeof payeeText>): string =>
  createHmac('sha256', key)
    .update(payeeText(...payee))
    .digest()
    .subarray(0, HASH_BYTES)
    .toString('base64url');

/** Returns what sums depend on besides orders: account, key, and whether payouts are compared. */
export const sumsId = (accountId: string, { payeeKey, rules = [] }: Partial<Policy>): string =>
  digestOfJson([accountId, payeeKey?.reveal(), isComparing(rules)]);

const isComparing = (rules: Policy['rules']): boolean => rules.some(({ rule }) => rule === 'paid-before');

/** Returns true for orders that a policy judges: they take money from the balance or pay it out. */
export const isJudged = (type: OrderType): boolean => factsOf(type).movesMoneyAtOnce || factsOf(type).paysOut;

/** Amounts of an order on its sides; undefined if a side cannot be estimated. */
export interface SideAmounts {
  from?: Amount | undefined;
  to?: Amount | undefined;
}

/** Returns the highest named amount of each side, else the highest estimate of it. */
export function askedAmounts(type: OrderType, request: CreateRequest, rates: Rates | undefined): SideAmounts {
  const { currencyFrom, currencyTo } = orderSides(type, request);
  const { amount }: RequestFields = request;
  const named = amountsOf(type, request);
  const estimate = factsOf(type).exchanges ? mostOfOtherSide(type, request, rates) : undefined;
  const most = (currency: string, isEstimated: boolean): Amount | undefined => {
    const own = named.flatMap((one) => (one.currency === currency ? [decimal(one.amount)] : []));
    // Without its estimate, a side may be higher than what the request names.
    if (isEstimated && !estimate) return undefined;
    const [highest] = [...own, ...(isEstimated && estimate ? [estimate] : [])].toSorted((a, b) => b.cmp(a));
    return highest && toAmount(highest);
  };
  const { exchanges } = factsOf(type);
  return { from: most(currencyFrom, exchanges && amount == null), to: most(currencyTo, exchanges && amount != null) };
}

/** Returns payee and amount in one text. 48 bits of the hash are enough for a warning. */
const sameText = (payee: string, { amount, currency }: { amount: Amount; currency: string }): string =>
  [payee.slice(0, 8), toAmount(decimal(amount)), currency].join(':');

/** Returns an order as rules see it. Wallets become keyed hashes here. */
export function payoutOf(
  { payeeKey, rules = [] }: Partial<Policy>,
  type: OrderType,
  request: CreateRequest,
  { from, to }: SideAmounts,
): Payout {
  const { currencyFrom, currencyTo, networkTo } = orderSides(type, request);
  const { movesMoneyAtOnce, paysOut } = factsOf(type);
  const { wallet, wallet_memo: memo, wallet_details: details }: RequestFields = request;
  const key = payeeKey?.reveal();
  const taken = movesMoneyAtOnce ? [{ currency: currencyFrom, amount: from }] : [];
  const paid =
    paysOut && !(movesMoneyAtOnce && currencyTo === currencyFrom) ? [{ currency: currencyTo, amount: to }] : [];
  const compares = isComparing(rules);
  // The named amount: an estimate of the other side changes with the rates.
  const [named] = amountsOf(type, request);
  const payeeWith = (payee: string, amount: Amount | undefined, asked = named) => ({
    ...{ payee, currency: currencyTo, amount },
    ...(compares && asked && { same: sameText(payee, asked) }),
  });
  const payees = () => {
    if (!key || !paysOut || !networkTo) return [];
    if (networkTo !== MULTIPLE_CARDS || !Array.isArray(details))
      return wallet ? [payeeWith(payeeOf(key, networkTo, wallet, memo, details), to)] : [];
    return (details as CardPart[]).map((card) =>
      payeeWith(payeeOf(key, 'card', card.wallet), card.amount, { amount: card.amount, currency: currencyTo }),
    );
  };
  return { orderId: request.order_id, amounts: [...taken, ...paid], payees: payees() };
}
