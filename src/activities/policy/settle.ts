import { getClient } from '@temporalio/activity';
import { OrderHandle } from '../../client/order-handle.js';
import { readStanding } from '../../client/standing.js';
import { type Amount, decimal, sum, toAmount } from '../../contract/money.js';
import { orderWorkflowId } from '../../contract/names.js';
import { requestOfOrder } from '../../contract/order/followers.js';
import type { OrderResult } from '../../contract/order/input-and-result.js';
import { isOrderType } from '../../contract/order/types.js';
import type { Settlement, Spend } from '../../contract/policy/ledger.js';
import type { SettleAnswer, SettleInput } from '../../contract/policy/messages.js';
import { isFinal, type Order } from '../../contract/service-objects.js';
import { mapInOrder } from '../paced-reads.js';
import { payoutOf } from './payout.js';

const AT_ONCE = 20;

/** Reads how reserved orders ended. Open ones are left out, and those in doubt count in full. */
export async function settlePolicy({ account, orders }: SettleInput): Promise<SettleAnswer> {
  const client = getClient();
  const settled = mapInOrder(orders, AT_ONCE, async (asked): Promise<Settlement | undefined> => {
    const { orderId, spends } = asked;
    const standing = await readStanding(client, orderWorkflowId(account, orderId));
    switch (standing.kind) {
      case 'open':
        return asked.isFollowed && finalOf(new OrderHandle(client, account, orderId), spends);
      case 'completed':
        return settlementOf(orderId, spends, standing.result);
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

type Side = 'from' | 'to';
type Result = Pick<OrderResult, 'outcome' | 'order' | 'remainder' | 'remainderUnknown' | 'compensation'>;

const isGiven = ({ currency_from: from, currency_to: to, strict_withdrawal_amount: strict }: Order, side: Side) =>
  from === to || (side === 'to') === strict;

/** Returns what a final order executed; null if that is unknown, or all that it was asked for. */
export function executedOn(order: Order, side: Side): Amount | null {
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
