import { getClient } from '@temporalio/activity';
import { readStanding } from '../../client/standing.js';
import { type Amount, decimal, sum, toAmount } from '../../contract/money.js';
import { orderWorkflowId } from '../../contract/names.js';
import type { OrderResult } from '../../contract/order/input-and-result.js';
import type { Settlement, Spend } from '../../contract/policy/ledger.js';
import type { SettleAnswer, SettleInput } from '../../contract/policy/messages.js';
import type { Order } from '../../contract/service-objects.js';
import { mapInOrder } from '../paced-reads.js';

const AT_ONCE = 20;

/** Reads how reserved orders ended. Open ones are left out, and those in doubt count in full. */
export async function settlePolicy({ account, orders }: SettleInput): Promise<SettleAnswer> {
  const client = getClient();
  const settled = mapInOrder(orders, AT_ONCE, async ({ orderId, spends }): Promise<Settlement | undefined> => {
    const standing = await readStanding(client, orderWorkflowId(account, orderId));
    switch (standing.kind) {
      case 'open':
        return undefined;
      case 'completed':
        return { orderId, spends: spentOf(spends, standing.result) };
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

type Side = 'from' | 'to';

/** Returns what was executed of a reservation, by the figures that the service shows. */
export function spentOf(reserved: readonly Spend[], result: OrderResult): Spend[] {
  const { outcome, order } = result;
  const exchanges = order.currency_from !== order.currency_to;
  const isGiven = (side: Side) => !exchanges || (side === 'to') === order.strict_withdrawal_amount;
  const shown = (side: Side): Amount | null => {
    if (outcome === 'completed' && isGiven(side)) return null;
    return order[`amount_${side}`] ?? withoutRemainder(reserved, result, side);
  };
  const isUnpaid = isZero(shown('to'));
  const payees = reserved.filter(([key]) => key.startsWith('# ')).length;
  return reserved.flatMap(([key, amount]): Spend[] => {
    const [currency, payee] = key.split(' ');
    if (/^[#=] /.test(key)) return isUnpaid ? [] : [[key, amount]];
    // Which one of several payees was not paid is unknown.
    if (payee && payees > 1) return isUnpaid ? [] : [[key, amount]];
    const side = currency === order.currency_to ? 'to' : 'from';
    const executed = shown(side);
    if (executed === null) return [[key, amount]];
    if (isZero(executed)) return [];
    return [[key, isGiven(side) && decimal(executed).gt(amount) ? amount : executed]];
  });
}

/** Returns what an order without figures executed, by its remainder; null if that is unknown. */
function withoutRemainder(
  reserved: readonly Spend[],
  { outcome, order, remainder, remainderUnknown, compensation }: OrderResult,
  side: Side,
): Amount | null {
  // After a follow-up, the remainder is no longer the order's own.
  if (outcome === 'completed' || !remainder || remainderUnknown || compensation?.order_id) return null;
  const [, asked] = reserved.find(([key]) => key === order[`currency_${side}`]) ?? [];
  const kind = side === 'to' ? 'unpaid' : 'unexchanged';
  const left = sum(remainder.filter((one) => one.kind === kind).map(({ amount }) => decimal(amount)));
  return asked === undefined ? null : toAmount(decimal(asked).minus(left));
}

const isZero = (amount: Order['amount_to']): boolean => amount !== null && decimal(amount).eq(0);
