import type Big from 'big.js';
import { decimal, decimalOrZero, sum, toAmount } from '../../contract/money.js';
import type { Payers } from '../../contract/order/answers.js';
import type { BalanceChange, Order } from '../../contract/order/order.js';
import type { CreateRequest } from '../../contract/order/request.js';
import type { Remainder } from '../../contract/order/result.js';
import type { OrderType } from '../../contract/order/types.js';

/** What the figures are computed from: the final order, its balance changes, the request and who pays commissions. */
export interface Case {
  type: OrderType;
  request: CreateRequest;
  order: Order;
  changes: readonly BalanceChange[];
  payers?: Payers;
  /** What rates said about them at another time, where it was something else. */
  laterPayers?: Payers;
}

/** What an order left behind; a side that its type does not have is absent. Exact, never rounded. */
export interface Figures {
  /** R_F: not exchanged, in currency_from. */
  unexchanged?: Big;
  /** R_T: not paid out, in currency_to. */
  unpaid?: Big;
}

/** Σ of the balance changes in one currency. */
export const netChange = ({ changes }: Case, currency: string): Big =>
  sum(changes.filter((change) => change.currency === currency).map((change) => decimal(change.amount_change)));

/** `A`: the requested `amount`; orders by `amount_to` asked for what they were expected to take. */
export const requestedAmount = ({ request, order }: Case): Big => decimal(request.amount ?? order.expected_amount_from);

/**
 * A commission that is withheld separately from the balance (payer `merchant`) is added back; a client's is not, nor one
 * that was only quoted: where nothing moved in its currency, nothing was withheld.
 */
function withheldFee({ changes }: Case, currency: string, fee: string | null, payer: string | null | undefined): Big {
  const moved = changes.some((change) => change.currency === currency);
  return moved && payer !== 'client' ? decimalOrZero(fee) : decimalOrZero(null);
}

/** R_F and R_T by order type: the table "Figures" of the compensation rules. Pure and exact. */
export function figures(c: Case): Figures {
  const netFrom = netChange(c, c.order.currency_from);
  const netTo = netChange(c, c.order.currency_to);
  const feeFrom = withheldFee(c, c.order.currency_from, c.order.amount_from_fee, c.payers?.from);
  const feeTo = withheldFee(c, c.order.currency_to, c.order.amount_to_fee, c.payers?.to);
  switch (c.type) {
    case 'deposit':
      return {};
    case 'exchange':
      return { unexchanged: requestedAmount(c).plus(netFrom) };
    case 'exchange_withdraw':
      return { unexchanged: requestedAmount(c).plus(netFrom), unpaid: netTo.plus(feeTo) };
    case 'deposit_exchange':
      return { unexchanged: netFrom.plus(feeFrom) };
    case 'deposit_exchange_withdraw':
      return { unexchanged: netFrom.plus(feeFrom), unpaid: netTo.plus(feeTo) };
    case 'withdraw':
      return { unpaid: requestedAmount(c).plus(netTo).plus(feeTo) };
  }
}

/** The figures above zero, as the result names them. */
export function remainders(c: Case, left: Figures): Remainder[] {
  const all: [Remainder['kind'], string, Big | undefined][] = [
    ['unexchanged', c.order.currency_from, left.unexchanged],
    ['unpaid', c.order.currency_to, left.unpaid],
  ];
  return all.flatMap(([kind, currency, amount]) =>
    amount?.gt(0) ? [{ kind, currency, amount: toAmount(amount) }] : [],
  );
}
