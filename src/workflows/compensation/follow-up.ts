import type Big from 'big.js';
import { decimal, decimalOrZero, toAmount } from '../../contract/money.js';
import { orderSides, type RequestFields } from '../../contract/order-sides.js';
import type { CreateRequest, CreateRequests, OrderType } from '../../contract/orders.js';
import type { Case, Figures } from './figures.js';

/** An order that does what its parent left undone. */
export interface FollowUp {
  type: OrderType;
  request: CreateRequest;
}

/**
 * The follow-up that finishes an order: pays what was not paid, to the same wallet, or exchanges (and pays) what was not
 * exchanged. Exactly the remainder, never the request's amount; undefined when not exactly one side is left.
 */
export function finishingOrder(c: Case, { unexchanged, unpaid }: Figures, orderId: string): FollowUp | undefined {
  const payable = unpaid?.gt(0) ? payableOf(c, unpaid) : undefined;
  const exchangeable = unexchanged?.gt(0) ? unexchanged : undefined;
  if (unpaid?.gt(0) && exchangeable) return undefined;
  const fields: RequestFields = c.request;
  const { currencyFrom, currencyTo, networkTo } = orderSides(c.type, c.request);
  const common = {
    order_id: orderId,
    // The parent's own description is never copied: it may say "full salary" or steer the receiving side.
    description: `Follow-up of ${fields.order_id}`,
    ...(fields.client_info && { client_info: fields.client_info }),
  };
  const target = {
    wallet: fields.wallet ?? '',
    ...(fields.wallet_memo && { wallet_memo: fields.wallet_memo }),
    ...(fields.wallet_details && { wallet_details: fields.wallet_details }),
  };
  if (payable) {
    const request: CreateRequests['withdraw'] = {
      ...common,
      currency: currencyTo,
      network: networkTo ?? '',
      amount: toAmount(payable),
      ...target,
    };
    return { type: 'withdraw', request };
  }
  // What an exact payout still needs cannot be bought for exactly R_F: the rate may give more than was asked for.
  if (!exchangeable || fields.amount_to) return undefined;
  const exchange = {
    ...common,
    currency_from: currencyFrom,
    currency_to: currencyTo,
    amount: toAmount(exchangeable),
  };
  if (c.type === 'exchange' || c.type === 'deposit_exchange') return { type: 'exchange', request: exchange };
  return { type: 'exchange_withdraw', request: { ...exchange, network_to: networkTo ?? '', ...target } };
}

/** An exact payout never gets more than was asked for, whatever the exchange yielded; the surplus stays reported. */
function payableOf(c: Case, unpaid: Big): Big | undefined {
  const fields: RequestFields = c.request;
  if (!fields.amount_to) return unpaid;
  const missing = decimal(fields.amount_to).minus(decimalOrZero(c.order.amount_to));
  const payable = missing.lt(unpaid) ? missing : unpaid;
  return payable.gt(0) ? payable : undefined;
}

/** What a person must know before a follow-up pays: each payout costs a commission, and a client's comes out of it. */
export const followUpCosts = ({ payers }: Case, { type }: FollowUp): string[] =>
  type !== 'exchange' && payers?.to === 'client' ? ['the recipient bears a second commission'] : [];
