import type { CreateRequest, Order, OrderType } from './orders.js';
import type { RequestFields } from './sides.js';

/**
 * What an order was asked for, as far as the service's own object tells: for orders whose request we do not have. Where
 * a payout goes is left out, because the service may show it masked.
 */
export function requestOfOrder(type: OrderType, order: Order): CreateRequest {
  const { user_order_id: order_id, currency_from, currency_to } = order;
  const [network_from, network_to] = [order.network_from ?? '', order.network_to ?? ''];
  const amount = order.strict_withdrawal_amount
    ? { amount_to: order.expected_amount_to }
    : { amount: order.expected_amount_from };
  const fields: Record<OrderType, RequestFields> = {
    deposit: { order_id, currency: currency_from, network: network_from, ...amount },
    deposit_exchange: { order_id, currency_from, network_from, currency_to, ...amount },
    deposit_exchange_withdraw: { order_id, currency_from, network_from, currency_to, network_to, ...amount },
    exchange: { order_id, currency_from, currency_to, ...amount },
    exchange_withdraw: { order_id, currency_from, currency_to, network_to, ...amount },
    withdraw: { order_id, currency: currency_to, network: network_to, ...amount },
  };
  return fields[type] as CreateRequest;
}
