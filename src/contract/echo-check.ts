import { differences, sameValue } from './differences.js';
import { sameAmount } from './money.js';
import type { RequestFields } from './order-sides.js';
import type { CreateRequest, Order, OrderType } from './orders.js';

/**
 * Which field of the service's order carries which field of the request. Only what the order of that type really
 * carries: everything else is null there or not documented.
 */
type Echo = readonly (readonly [request: keyof RequestFields, order: keyof Order])[];

const PAYOUT: Echo = [
  ['wallet', 'wallet_to'],
  ['wallet_memo', 'wallet_memo_to'],
  ['wallet_details', 'wallet_to_details'],
];
const CURRENCIES: Echo = [
  ['currency_from', 'currency_from'],
  ['currency_to', 'currency_to'],
];

const ECHOES: Record<OrderType, Echo> = {
  deposit: [
    ['currency', 'currency_from'],
    ['network', 'network_from'],
  ],
  deposit_exchange: [...CURRENCIES, ['network_from', 'network_from']],
  deposit_exchange_withdraw: [...CURRENCIES, ['network_from', 'network_from'], ['network_to', 'network_to'], ...PAYOUT],
  exchange: CURRENCIES,
  exchange_withdraw: [...CURRENCIES, ['network_to', 'network_to'], ...PAYOUT],
  withdraw: [['currency', 'currency_to'], ['network', 'network_to'], ...PAYOUT],
};

/** True when what is visible of `shown` (`411111******1111`) fits a value; unmasked text must be equal. */
function fitsMasked(value: string, shown: string): boolean {
  const [head = '', ...rest] = shown.split(/[*•]+/);
  const tail = rest.pop();
  if (tail === undefined) return value === shown;
  if (value.length < head.length + tail.length || !value.startsWith(head) || !value.endsWith(tail)) return false;
  let middle = value.slice(head.length, value.length - tail.length);
  return rest.every((part) => {
    const at = middle.indexOf(part);
    middle = middle.slice(at + part.length);
    return at >= 0;
  });
}

/** Hex addresses mean the same in any case: the case is only a checksum, and services write it as they like. */
export const normalized = (text: string): string => (/^0x[0-9a-f*•]+$/i.test(text) ? text.toLowerCase() : text);

function sameEcho(requested: unknown, shown: unknown, key: string): boolean {
  if (sameValue(requested, shown, key)) return true;
  if (typeof requested !== 'string' || typeof shown !== 'string' || key === 'amount') return false;
  return fitsMasked(normalized(requested), normalized(shown));
}

/** The name of the amount field that differs, if one does. Never looks at amount_from and amount_to, which may still change. */
function amountDifference(type: OrderType, request: RequestFields, order: Order): string[] {
  if (request.amount_to != null) {
    const same = order.strict_withdrawal_amount === true && sameAmount(request.amount_to, order.expected_amount_to);
    return same ? [] : ['amount_to'];
  }
  const sameFrom = sameAmount(request.amount, order.expected_amount_from) && order.strict_withdrawal_amount !== true;
  // Which of the two carries a payout's amount when a fee comes in between is not documented.
  const same = sameFrom || (type === 'withdraw' && sameAmount(request.amount, order.expected_amount_to));
  return same ? [] : ['amount'];
}

/**
 * Names of the request's fields in which an order of the service differs from what we asked for; [] = it is ours.
 * Details count as one field. Names only: the values may be wallets.
 */
export function echoDifferences(type: OrderType, request: CreateRequest, order: Order): string[] {
  const fields: RequestFields = request;
  // Only a run rebuilt from the order list has a payout without a wallet: it does not know where the payout went.
  const unknownTarget = fields.wallet === undefined;
  const echoed = ECHOES[type].filter(([asked, answered]) => {
    const mayBeMasked = asked.startsWith('wallet');
    if (mayBeMasked && unknownTarget) return false;
    return differences(fields[asked], order[answered], asked, mayBeMasked ? sameEcho : sameValue).length > 0;
  });
  return [
    ...(order.order_type === type ? [] : ['order_type']),
    ...(order.user_order_id === fields.order_id ? [] : ['order_id']),
    ...echoed.map(([asked]) => asked),
    ...amountDifference(type, fields, order),
  ];
}
