import { randomUUID } from 'node:crypto';
import { sidesBy } from '../activities/order/other-side.js';
import { decimal, divide, sum, toAmount } from '../contract/money.js';
import type { OrderInput, OrderResult, Remainder } from '../contract/order/input-and-result.js';
import { wholeAnswer } from '../contract/order/lean.js';
import type { CreateRequest, RequestFields } from '../contract/order/request.js';
import { factsOf, type OrderType, orderSides } from '../contract/order/types.js';
import { serviceTime } from '../contract/reconcile/input.js';
import type { BalanceChange, FinalStatus, Order, Rates } from '../contract/service-objects.js';
import { rateEntryOf } from '../validation/rate-checks.js';
import { type Case, figures, remainders } from '../workflows/compensation/figures.js';
import { openFunds } from '../workflows/compensation/moves.js';
import { offersOf } from '../workflows/compensation/offers.js';
import { rowOf } from '../workflows/compensation/table.js';

/** Networks on which a client pays on a page; on others, to an address. */
const PAGES = ['card', 'sepa', 'bank'];

/** Returns the order that the service shows after a create. Unclear rates count as 1. */
export function createdOrder(type: OrderType, request: CreateRequest, rates: Rates): Order {
  const asked = request as RequestFields;
  const { startsWithDeposit, exchanges, echoes } = factsOf(type);
  const { currencyFrom, networkFrom, currencyTo, networkTo } = orderSides(type, request);
  const uuid = randomUUID();
  const amount = decimal(asked.amount ?? asked.amount_to ?? '0');
  const entry = rateEntryOf(rates, type, request);
  // The double's exchange rate is the amount of `currency_to` for one of `currency_from`.
  const sides = entry && sidesBy(decimal(entry.exchange_rate ?? '1'), type, request, entry);
  const [from, to] = sides && 'from' in sides ? [sides.from, sides.arrives] : [amount, amount];
  const onPage = PAGES.includes(networkFrom ?? '');
  const order = {
    order_uuid: uuid,
    order_type: type,
    user_order_id: asked.order_id,
    description: asked.description ?? null,
    client_info: asked.client_info ?? null,
    expected_amount_from: toAmount(from),
    expected_amount_to: toAmount(to),
    strict_withdrawal_amount: asked.amount_to !== undefined,
    currency_from: currencyFrom,
    network_from: networkFrom,
    currency_to: currencyTo,
    // The service shows the network of a deposit on both sides.
    network_to: type === 'deposit' ? networkFrom : networkTo,
    ...Object.fromEntries(echoes.map(([name, shown]) => [shown, asked[name] ?? null])),
    wallet_to_transactions: Array.isArray(asked.wallet_details) ? [] : null,
    ...(startsWithDeposit && (onPage ? { deposit_url: `https://pay.test/${uuid}` } : { deposit_address: uuid })),
    ...(exchanges && { exchange_rate_initial: entry?.exchange_rate, exchange_rate_actual: entry?.exchange_rate }),
    currency_from_precision: entry?.currency_from_precision ?? 8,
    currency_to_precision: entry?.currency_to_precision ?? 8,
    status: startsWithDeposit ? 'new' : 'processing',
    created_at: serviceTime(Date.now()),
    updated_at: serviceTime(Date.now()),
  };
  return wholeAnswer(order) as unknown as Order;
}

/** Returns the order at its end. If it did not complete and left no remainder, it moved nothing. */
export function finalOrder(order: Order, outcome: FinalStatus, remainder?: readonly Remainder[]): Order {
  const { startsWithDeposit, exchanges } = factsOf(order.order_type as OrderType);
  const left = (kind: Remainder['kind']) =>
    sum((remainder ?? []).flatMap((one) => (one.kind === kind ? decimal(one.amount) : [])));
  const [from, to] = [decimal(order.expected_amount_from), decimal(order.expected_amount_to)];
  const used = from.minus(left(exchanges ? 'unexchanged' : 'unpaid'));
  const share = exchanges && from.gt(0) ? divide(used, from) : decimal('1');
  const brought = to.times(share).round(order.currency_to_precision, 0).minus(left('unpaid'));
  return {
    ...order,
    ...((outcome === 'completed' || remainder) && {
      amount_from: toAmount(startsWithDeposit ? from : used),
      amount_to: toAmount(brought),
    }),
    ...(outcome === 'error' && { error_code: 1001, error_message: 'The order was not executed' }),
    status: outcome,
    updated_at: serviceTime(Date.now()),
    finalized_at: serviceTime(Date.now()),
  };
}

/** Returns what an order left, its row of the product's table, and the offers of the row. */
export function leftOf(order: Omit<Case, 'changes'>, { revertTo }: OrderInput, remainder?: readonly Remainder[]) {
  const c: Case = { ...order, changes: remainder ? changesOf(order.order) : [] };
  const given = remainder?.map(({ kind, amount }) => [kind, decimal(amount)]);
  const left = given ? Object.fromEntries(given) : figures(c);
  const row = rowOf(c, left);
  const found = row.nothingLeft ? [] : remainders(c, left);
  const about: Pick<OrderResult, 'remainder' | 'remainderUnknown'> = row.leftUnknown
    ? { remainderUnknown: 'no figure says what is left' }
    : found.length > 0
      ? { remainder: found }
      : {};
  return { about, row, offers: row.leftUnknown ? [] : offersOf(c, openFunds(c, left), row, revertTo) };
}

/** Returns the balance changes on which offers depend besides the remainder. */
function changesOf(order: Order): BalanceChange[] {
  const { startsWithDeposit } = factsOf(order.order_type as OrderType);
  const sides = [
    startsWithDeposit && ([order.currency_from, order.amount_from] as const),
    [order.currency_to, order.amount_to] as const,
  ];
  return sides.flatMap((side) => {
    const [currency, amount] = side || [];
    if (!currency || !amount) return [];
    return { currency, amount_before: '0', amount_change: amount, amount_after: amount, created_at: order.updated_at };
  });
}
