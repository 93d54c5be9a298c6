import { PaymentOrders } from '../src/index.js';

const orders = await PaymentOrders.connect(); // once per process: TEMPORAL_ADDRESS and its companions, no secret of the service

export async function refund(card: string): Promise<string> {
  const { handle, order } = await orders.create('withdraw', {
    order: { order_id: 'refund-2026-117', currency: 'usd', network: 'card', amount: '12.50', wallet: card },
    compensation: 'finish', // the unpaid part of a partial payout is sent by a follow-up
  });
  const { outcome } = await handle.result(); // the order exists now; its end may come hours later
  return `${order.order_uuid} ended ${outcome}`;
}
