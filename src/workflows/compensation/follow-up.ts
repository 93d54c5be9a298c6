import type { Amount } from '../../contract/money.js';
import type { RevertTarget } from '../../contract/order/input.js';
import type { CardPart, CreateRequest, CreateRequests, RequestFields } from '../../contract/order/request.js';
import type { FollowUpType } from '../../contract/order/types.js';
import { orderSides } from '../../contract/order/types.js';
import type { Case } from './figures.js';
import { EXCHANGE_AND_PAY, type Move, PAY, REFUND } from './moves.js';

/** An order that goes on where its parent stopped. */
export interface FollowUp {
  type: FollowUpType;
  request: CreateRequest;
}

/** What only a person or the order's own input can name: where a refund goes, which cards are still to be paid. */
export interface Named {
  revertTo?: RevertTarget;
  cards?: CardPart[];
}

/** The order of a move over an amount. Throws where a refund has no `revertTo`: callers ask for it first. */
export function followUpOrder(c: Case, move: Move, amount: Amount, orderId: string, named: Named = {}): FollowUp {
  const { order_id: parent, client_info: clientInfo }: RequestFields = c.request;
  const common = {
    order_id: orderId,
    // The parent's own description is never copied: it may say "full salary" or steer the receiving side.
    description: `Follow-up of ${parent}`,
    ...(clientInfo && { client_info: clientInfo }),
    amount,
  };
  const { currencyFrom, currencyTo, networkTo } = orderSides(c.type, c.request);
  if (move === REFUND)
    return { type: 'withdraw', request: { ...common, currency: currencyFrom, ...refundTarget(named) } };
  if (move === PAY) {
    const target = { network: networkTo ?? '', ...payoutTarget(c, named) };
    return { type: 'withdraw', request: { ...common, currency: currencyTo, ...target } };
  }
  const back = move.action === 'revert';
  const request: CreateRequests['exchange'] = {
    ...common,
    currency_from: back ? currencyTo : currencyFrom,
    currency_to: back ? currencyFrom : currencyTo,
  };
  if (move !== EXCHANGE_AND_PAY) return { type: 'exchange', request };
  return { type: 'exchange_withdraw', request: { ...request, network_to: networkTo ?? '', ...payoutTarget(c, named) } };
}

function payoutTarget(c: Case, { cards }: Named) {
  const { wallet = '', wallet_memo, wallet_details }: RequestFields = c.request;
  const details = cards ?? wallet_details;
  return { wallet, ...(wallet_memo && { wallet_memo }), ...(details && { wallet_details: details }) };
}

function refundTarget({ revertTo }: Named) {
  if (!revertTo) throw new RangeError('a refund needs revertTo');
  const { network, wallet, wallet_memo, wallet_details } = revertTo;
  return { network, wallet, ...(wallet_memo && { wallet_memo }), ...(wallet_details && { wallet_details }) };
}

/** What a person must know before a follow-up pays: each payout costs a commission, and a client's comes out of it. */
export const followUpCosts = ({ payers }: Case, move: Move): string[] =>
  move.as !== 'exchange' && move !== REFUND && payers?.to === 'client'
    ? ['the recipient bears a second commission']
    : [];
