import { getClient } from '@temporalio/activity';
import { OrderHandle } from '../../client/order-handle.js';
import { readStanding } from '../../client/standing.js';
import type { Policy } from '../../config.js';
import { type Amount, decimal, sum, toAmount } from '../../contract/money.js';
import { orderWorkflowId } from '../../contract/names.js';
import { requestOfOrder } from '../../contract/order/followers.js';
import type { OrderResult } from '../../contract/order/input-and-result.js';
import { factsOf, isOrderType, type OrderType } from '../../contract/order/types.js';
import type { Settlement, Spend } from '../../contract/policy/ledger.js';
import type { SettleAnswer, SettleInput } from '../../contract/policy/messages.js';
import { type Payout, spendsOf } from '../../contract/policy/rules.js';
import { isFinal, type Order } from '../../contract/service-objects.js';
import type { ActivityDeps } from '../deps.js';
import { mapInOrder } from '../paced-reads.js';
import { payoutOf } from './payout.js';

const AT_ONCE = 20;

/** Reads how reserved orders ended. Open ones are left out, and those in doubt count in full. */
export function settlePolicyActivity({ policies }: ActivityDeps) {
  return async function settlePolicy({ account, orders }: SettleInput): Promise<SettleAnswer> {
    return settlementsOf(policies?.get(account) ?? {}, account, orders);
  };
}

async function settlementsOf(policy: Partial<Policy>, account: string, orders: SettleInput['orders']) {
  const client = getClient();
  const settled = mapInOrder(orders, AT_ONCE, async (asked): Promise<Settlement | undefined> => {
    const { orderId, spends } = asked;
    const standing = await readStanding(client, orderWorkflowId(account, orderId));
    switch (standing.kind) {
      case 'open':
        return asked.isFollowed && finalOf(new OrderHandle(client, account, orderId), spends);
      case 'completed':
        return settlementOf(orderId, ofShownPayees(policy, spends, standing.result), standing.result);
      case 'noOrder':
        return { orderId, spends: [] };
      default:
        return { orderId };
    }
  });
  const settlements: Settlement[] = [];
  for await (const one of settled) if (one) settlements.push(one);
  return settlements;
}

/** Returns what a final order executed whose workflow is open; undefined if that is unknown. */
async function finalOf(handle: OrderHandle, spends: readonly Spend[]): Promise<Settlement | undefined> {
  const { order } = await handle.state().catch(() => ({ order: null }));
  if (!order || !isFinal(order.status)) return undefined;
  return settlementOf(handle.orderId, spends, { outcome: order.status, order });
}

/** Returns what was reserved. An order adopted with differences counts for the payees it shows. */
function ofShownPayees(policy: Partial<Policy>, reserved: readonly Spend[], { order, echoDifferences }: OrderResult) {
  const payees = echoDifferences ? shownPayees(policy, order) : [];
  if (payees.length === 0) return reserved;
  const ofPayees = spendsOf({ orderId: order.user_order_id, amounts: [], payees });
  return [...reserved.filter(([key]) => !key.includes(' ')), ...ofPayees];
}

/** Returns the payees that an order shows; [] if it shows none in full. */
export function shownPayees(policy: Partial<Policy>, order: Order): Payout['payees'] {
  const isMasked = MASKED.test(JSON.stringify([order.wallet_to, order.wallet_to_details]));
  return isMasked || !isOrderType(order.order_type) ? [] : shownPayout(policy, order.order_type, order).payees;
}

type Side = 'from' | 'to';
type Result = Pick<OrderResult, 'outcome' | 'order' | 'remainder' | 'remainderUnknown' | 'compensation'>;

const isGiven = ({ currency_from: from, currency_to: to, strict_withdrawal_amount: strict }: Order, side: Side) =>
  from === to || (side === 'to') === strict;

/** Returns what a final order executed; null if that is unknown, or all that it was asked for. */
function executedOn(order: Order, side: Side): Amount | null {
  const { status, amount_from: from, amount_to: to, currency_from: taken, currency_to: paid } = order;
  if (status === 'completed' && isGiven(order, side)) return null;
  if (taken !== paid) return order[`amount_${side}`];
  // The client may pay a commission out of what was taken.
  return to !== null && from !== null && !isNone(to) && decimal(from).gt(to) ? from : to;
}

/** Returns what an order counts from its end on, and whether it may have paid nothing. */
export function settlementOf(orderId: string, reserved: readonly Spend[], result: Result): Settlement {
  const { outcome, order } = result;
  const paid = executedOn(order, 'to') ?? withoutRemainder(reserved, result, 'to');
  const mayBeUnpaid = outcome !== 'completed' && paid === null;
  return { orderId, spends: spentOf(reserved, result), ...(mayBeUnpaid && { mayBeUnpaid }) };
}

/** Wallet that the service shows in part. */
export const MASKED = /[*•…]/;
const NOT_EXECUTED: readonly string[] = ['canceled', 'error'];

export const isUnpaid = ({ amount_to: paid, status }: Order): boolean =>
  paid === null ? NOT_EXECUTED.includes(status) : Number(paid) === 0;

/** Returns the payout that an order shows: executed amounts or, while it is open, expected ones. */
export function shownPayout(policy: Partial<Policy>, type: OrderType, order: Order): Payout {
  const { wallet_to: wallet, wallet_memo_to: wallet_memo, wallet_to_details: wallet_details } = order;
  const asked = type === 'withdraw' && { amount: order.expected_amount_to };
  const request = { ...requestOfOrder(type, order), ...asked, wallet, wallet_memo, wallet_details };
  const amount = (side: 'from' | 'to', expected: Amount) =>
    (isFinal(order.status) ? executedOn(order, side) : null) ?? expected;
  const from = amount('from', order.expected_amount_from);
  const to = factsOf(type).exchanges ? amount('to', order.expected_amount_to) : from;
  const payout = payoutOf(policy, type, request as never, { from, to });
  const isBankHidden = order.network_to === 'bank' && !Object(wallet_details).bank_code;
  return isUnpaid(order) || isBankHidden ? { ...payout, payees: [] } : payout;
}

/** Returns what was executed of a reservation, by the figures that the service shows. */
export function spentOf(reserved: readonly Spend[], result: Result): Spend[] {
  const { outcome, order } = result;
  const shown = (side: Side): Amount | null => {
    const isAll = outcome === 'completed' && isGiven(order, side);
    return isAll ? null : (executedOn(order, side) ?? withoutRemainder(reserved, result, side));
  };
  const isUnpaid = isNone(shown('to'));
  const payees = reserved.filter(([key]) => key.startsWith('# ')).length;
  return [...reserved, ...notEstimated(reserved, order)].flatMap(([key, amount]): Spend[] => {
    const [currency, payee] = key.split(' ');
    // Which one of several payees was not paid is unknown.
    if (/^[#=] /.test(key) || (payee && payees > 1)) return isUnpaid ? [] : [[key, amount]];
    const side = currency === order.currency_to ? 'to' : 'from';
    const asked = askedOn(order, side, amount);
    const executed = shown(side) ?? asked;
    if (isNone(executed)) return [];
    return [[key, isGiven(order, side) && decimal(executed).gt(asked) ? asked : executed]];
  });
}

/** Returns what was reserved, or what the order was asked for if it is more: it may be adopted. */
function askedOn(order: Result['order'], side: Side, reserved: Amount): Amount {
  const asked = order[`expected_amount_${side}`];
  return isGiven(order, side) && decimal(asked).gt(reserved) ? asked : reserved;
}

/** Returns zero for what an order moves and could not be estimated, so that nothing is reserved. */
function notEstimated(reserved: readonly Spend[], order: Result['order']): Spend[] {
  const { order_type: type, currency_to: currencyTo } = order;
  if (!isOrderType(type)) return [];
  const { amounts } = payoutOf({}, type, requestOfOrder(type, order), {});
  const payees = reserved.flatMap(([key]) => (key.startsWith('# ') ? `${currencyTo} ${key.slice(2)}` : []));
  const keys = [...amounts.map(({ currency }) => currency), ...(payees.length === 1 ? payees : [])];
  return keys.flatMap((key): Spend[] => (reserved.some(([one]) => one === key) ? [] : [[key, '0']]));
}

/** Returns what an order without figures executed, by its remainder; null if that is unknown. */
function withoutRemainder(
  reserved: readonly Spend[],
  { outcome, order, remainder, remainderUnknown, compensation }: Result,
  side: Side,
): Amount | null {
  // After a follow-up, the remainder is no longer the order's own.
  if (outcome === 'completed' || !remainder || remainderUnknown || compensation?.order_id) return null;
  const [, asked] = reserved.find(([key]) => key === order[`currency_${side}`]) ?? [];
  const kind = side === 'to' ? 'unpaid' : 'unexchanged';
  const left = sum(remainder.filter((one) => one.kind === kind).map(({ amount }) => decimal(amount)));
  return asked === undefined ? null : toAmount(decimal(asked).minus(left));
}

const isNone = (amount: Amount | null): boolean => amount !== null && decimal(amount).lte(0);
