import { maskName, maskWallet } from '../masking.js';
import { shownIn } from './echo-check.js';
import type { CreateRequest, Order, OrderType } from './orders.js';
import type { RequestFields } from './sides.js';

/** Cards shown of a payout to several. */
const MAX_PARTS = 5;

const isNothing = (value: unknown): boolean => value === undefined || value === null || value === '';

/** A value for people. Amounts and codes in clear; wallets masked; of memos and details only that they are there. */
function shown(field: string, value: unknown): string {
  if (isNothing(value)) return 'none';
  if (field === 'wallet') return maskWallet(String(value));
  if (field === 'wallet_details' && Array.isArray(value)) return parts(value);
  return field.startsWith('wallet') ? '****' : maskName(String(value));
}

function parts(cards: readonly unknown[]): string {
  const one = (card: unknown): string => {
    const { wallet, amount } = Object(card) as Record<string, unknown>;
    return `${maskName(String(amount ?? '?'))} to ${typeof wallet === 'string' ? maskWallet(wallet) : 'none'}`;
  };
  const more = cards.length > MAX_PARTS ? ` and ${cards.length - MAX_PARTS} more` : '';
  return `${cards.slice(0, MAX_PARTS).map(one).join(' + ')}${more}`;
}

function amountOf({ expected_amount_from: from, expected_amount_to: to, ...order }: Order, field: string): string {
  const exact = order.strict_withdrawal_amount ? 'an exact payout of ' : '';
  return field === 'amount_to' || exact ? `${exact}${shown(field, to)}` : shown(field, from);
}

/** Fields in which an order is not what was asked for, each with both values: `wallet (asked for ****1111, shown ****4444)`. */
export function shownDifferences(
  type: OrderType,
  request: CreateRequest,
  order: Order,
  fields: readonly string[],
): string {
  const requested: RequestFields = request;
  const asked = (field: string): unknown => (field === 'order_type' ? type : requested[field as keyof RequestFields]);
  const answered = (field: string): string => {
    if (field === 'amount' || field === 'amount_to') return amountOf(order, field);
    if (field === 'order_id') return 'another one';
    return shown(field, field === 'order_type' ? order.order_type : order[shownIn(type, field) ?? 'order_type']);
  };
  return fields
    .map((field) => `${field} (asked for ${shown(field, asked(field))}, shown ${answered(field)})`)
    .join(', ');
}
