import { echoDifferences } from '../../contract/differences/echo.js';
import { sum, toAmount } from '../../contract/money.js';
import type { LeavingAmount, OrderFindings } from '../../contract/order/messages.js';
import type { CreateRequest } from '../../contract/order/request.js';
import { factsOf, type OrderType } from '../../contract/order/types.js';
import type { Order } from '../../contract/service-objects.js';
import { rateEntryOf } from '../../validation/rate-checks.js';
import { balanceEffect, isOnTop } from './balances.js';
import type { Terms } from './limits.js';
import { bothSides } from './other-side.js';

/** An order that is only checked. */
export interface Checked {
  type: OrderType;
  request: CreateRequest;
  terms: Terms;
}

/** Returns how the service shows an order. Only an answer without one counts as none. */
export function shownAs(
  { type, request }: Pick<Checked, 'type' | 'request'>,
  order: Order | undefined,
): NonNullable<OrderFindings['atService']> {
  if (!order) return { state: 'none' };
  const { hard: fields } = echoDifferences(type, request, order);
  const { order_uuid, status } = order;
  if (fields.length === 0) {
    return { state: 'same', order_uuid, status, reason: `the service has this order: ${status}` };
  }
  const reason = `the service has another order with this id (${fields.join(', ')})`;
  return { state: 'conflict', order_uuid, status, fields, reason };
}

/** Returns a warning for an amount that the balance lacks. */
export const unchecked = ({ currency, shortfall }: LeavingAmount): string[] =>
  shortfall === undefined
    ? []
    : [`${shortfall} ${currency} are missing on the balance. It names no whenShort, so the service decides`];

/** Returns limits, commissions and amounts by the current rates. */
export function amountsOf({ type, request, terms: { rates, balances } }: Checked): Omit<OrderFindings, 'fields'> {
  const entry = rates && rateEntryOf(rates, type, request);
  // The caller reports why there is no entry.
  if (!rates || !entry) return {};
  const { currency_from, currency_to, min_amount_from: min, max_amount_from: max } = entry;
  const limits = { currency: currency_from, min, max };
  const sides = bothSides(type, request, entry, rates);
  if ('unknown' in sides) return { limits, unknown: [`commissions and amounts: ${sides.unknown}`] };
  const { exchanges, movesMoneyAtOnce } = factsOf(type);
  const taken = [
    ...(movesMoneyAtOnce ? [{ currency: currency_from, amount: sides.from }] : []),
    ...sides.fees.filter(isOnTop),
  ];
  const leaves = [...new Set(taken.map(({ currency }) => currency))].map((currency) => {
    const amount = sum(taken.flatMap((one) => (one.currency === currency ? [one.amount] : [])));
    const read = balances === 'unread' ? undefined : balances;
    return { currency, amount: toAmount(amount), ...balanceEffect(read, currency, amount) };
  });
  return {
    limits,
    fees: sides.fees.map(({ amount, ...fee }) => ({ ...fee, amount: toAmount(amount) })),
    arrives: { currency: currency_to, amount: toAmount(sides.arrives) },
    leaves,
    ...(exchanges && { estimated: true }),
    ...(movesMoneyAtOnce && balances === 'unread' && { unknown: ['the balance could not be read'] }),
  };
}
