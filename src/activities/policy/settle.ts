import { getClient } from '@temporalio/activity';
import { OrderHandle } from '../../client/order-handle.js';
import { readStanding } from '../../client/standing.js';
import type { Policy } from '../../config.js';
import { type Amount, decimal, decimalOrZero, sum, toAmount } from '../../contract/money.js';
import { orderWorkflowId } from '../../contract/names.js';
import { requestOfOrder } from '../../contract/order/followers.js';
import type { OrderResult } from '../../contract/order/input-and-result.js';
import { factsOf, isOrderType, type OrderType } from '../../contract/order/types.js';
import type { Settlement, Spend } from '../../contract/policy/ledger.js';
import type { SettleAnswer, SettleInput } from '../../contract/policy/messages.js';
import { type Payout, spendsOf } from '../../contract/policy/rules.js';
import { type BalanceChange, isFinal, type Order, type OrderListItem } from '../../contract/service-objects.js';
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
  return isMasked(order) || !isOrderType(order.order_type) ? [] : shownPayout(policy, order.order_type, order).payees;
}

type Side = 'from' | 'to';
/** End of an order. `changes`: its balance changes, if they were read. */
type Result = Pick<OrderResult, 'outcome' | 'order' | 'remainder' | 'remainderUnknown' | 'compensation'> & {
  changes?: readonly BalanceChange[];
};

const isGiven = ({ currency_from: from, currency_to: to, strict_withdrawal_amount: strict }: Order, side: Side) =>
  from === to || (side === 'to') === strict;

/**
 * Returns what a final order executed on a side: of the amount that it named, all at least if it
 * completed. null: unknown.
 */
function executedOn(result: Result, side: Side, asked: Amount): Amount | null {
  const { outcome, order } = result;
  if (outcome !== 'completed') return shownOn(order, side, asked) ?? movedOn(result, side);
  const shown = shownOn(order, side, asked);
  return isGiven(order, side) ? larger(shown ?? asked, asked) : shown;
}

/** Returns the figure that an order shows for a side. */
function shownOn(order: Order, side: Side, asked: Amount): Amount | null {
  const { order_type: type, amount_from: from, amount_to: to, currency_from: taken, currency_to: paid } = order;
  if (taken !== paid) return order[`amount_${side}`];
  // The client may pay a commission out of what was asked for. Another one is taken beside it.
  const isBeside = decimal(order.expected_amount_from).gt(asked);
  const isDeposited = isOrderType(type) && factsOf(type).startsWithDeposit;
  return from === null || to === null || isNone(to) || isBeside || isDeposited ? to : larger(from, to);
}

/** Returns what an order without a figure moved; null if that is unknown. */
function movedOn({ order, changes, remainder, remainderUnknown, compensation }: Result, side: Side): Amount | null {
  // The remainder is known only if the figures fit the balance changes, so a missing one is none.
  if (!changes) return (remainder || compensation) && !remainderUnknown ? '0' : null;
  const { status, blockchain_withdrawal_hash: hash, unreadable = [] } = order;
  const own = changes.filter(({ currency }) => currency === order[`currency_${side}`]);
  const taken = sum(own.map(({ amount_change: change }) => decimal(change)).filter((change) => change.lt(0))).abs();
  if (unreadable.length > 0 || (taken.eq(0) && (hash !== null || !NOT_EXECUTED.includes(status)))) return null;
  return toAmount(taken);
}

const NOT_EXECUTED: readonly string[] = ['canceled', 'error'];

/** Amounts for which an order counts. `mayBeUnpaid`: its paid amount is unknown. */
type Counted = Settlement & Required<Pick<Settlement, 'spends'>>;

/** Returns what an order counts for from its end on. */
export function settlementOf(orderId: string, reserved: readonly Spend[], result: Result): Counted {
  const { outcome, order } = result;
  const all = [...reserved, ...notEstimated(reserved, order)];
  const payees = reserved.filter(([key]) => key.startsWith('# ')).length;
  const [, reservedTo = '0'] = all.find(([key]) => key === order.currency_to) ?? [];
  const paid = executedOn(result, 'to', askedOn(order, 'to', reservedTo));
  const cards = all.filter(([key]) => key.startsWith(`${order.currency_to} `));
  const beyond = decimalOrZero(paid).minus(sum(cards.map(([, amount]) => decimal(amount))));
  const spends = all.flatMap(([key, amount]): Spend[] => {
    const [currency, payee] = key.split(' ');
    if (payee && isNone(paid)) return [];
    if (/^[#=] /.test(key)) return [[key, amount]];
    // It is unknown which one of several payees was not paid, or got more.
    if (payee && payees > 1) return [[key, larger(amount, toAmount(beyond.plus(amount)))]];
    const side = currency === order.currency_to ? 'to' : 'from';
    const asked = askedOn(order, side, amount);
    const executed = executedOn(result, side, asked) ?? asked;
    return isNone(executed) ? [] : [[key, executed]];
  });
  return { orderId, spends, ...(outcome !== 'completed' && paid === null && { mayBeUnpaid: true }) };
}

/** Returns what an order counts for by what it shows: what it was asked for, or its end. */
export function shownAs(policy: Partial<Policy>, type: OrderType, order: Order & Partial<OrderListItem>): Counted {
  const { user_order_id: orderId, balance_changes: changes, status: outcome } = order;
  const spends = spendsOf(shownPayout(policy, type, order));
  return isFinal(outcome)
    ? settlementOf(orderId, spends, { outcome, order, ...(changes && { changes }) })
    : { orderId, spends };
}

/** Returns true for an order whose wallet the service shows in part. */
export const isMasked = ({ wallet_to: wallet, wallet_to_details: details }: Order): boolean =>
  /[*•…]/.test(JSON.stringify([wallet, details]));

/** Returns the payout that an order was asked for, by what it shows. */
function shownPayout(policy: Partial<Policy>, type: OrderType, order: Order): Payout {
  const { wallet_to: wallet, wallet_memo_to: wallet_memo, wallet_to_details: wallet_details } = order;
  const { expected_amount_from: from, expected_amount_to: expected } = order;
  const asked = type === 'withdraw' && { amount: expected };
  const request = { ...requestOfOrder(type, order), ...asked, wallet, wallet_memo, wallet_details };
  const to = factsOf(type).exchanges ? expected : from;
  const payout = payoutOf(policy, type, request as never, { from, to });
  const isBankHidden = order.network_to === 'bank' && !Object(wallet_details).bank_code;
  return isBankHidden ? { ...payout, payees: [] } : payout;
}

/** Returns what was reserved, or what the order was asked for if it is more: it may be adopted. */
const askedOn = (order: Order, side: Side, reserved: Amount): Amount =>
  larger(reserved, order[`expected_amount_${side}`]);

/** Returns zero for what an order moves and could not be estimated, so that nothing is reserved. */
function notEstimated(reserved: readonly Spend[], order: Order): Spend[] {
  const { order_type: type, currency_to: currencyTo } = order;
  if (!isOrderType(type)) return [];
  const { amounts } = payoutOf({}, type, requestOfOrder(type, order), {});
  const payees = reserved.flatMap(([key]) => (key.startsWith('# ') ? `${currencyTo} ${key.slice(2)}` : []));
  const keys = [...amounts.map(({ currency }) => currency), ...(payees.length === 1 ? payees : [])];
  return keys.flatMap((key): Spend[] => (reserved.some(([one]) => one === key) ? [] : [[key, '0']]));
}

const isNone = (amount: Amount | null): boolean => amount !== null && decimal(amount).lte(0);
const larger = (one: Amount, other: Amount): Amount => (decimal(one).gt(other) ? one : other);
