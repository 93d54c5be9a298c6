import type { OrderInput } from '../../src/contract/order/input-and-result.js';
import type { CreateRequests, RequestFields } from '../../src/contract/order/request.js';
import { type OrderType, orderSides } from '../../src/contract/order/types.js';
import type { Order } from '../../src/contract/service-objects.js';
import { orderSchema } from '../../src/payment-service/schemas.js';

/** Well-formed wallets that belong to nobody: published test numbers and examples. */
export const CARD = '4111111111111111';
export const OTHER_CARD = '5555555555554444';
export const SEPA_IBAN = 'DE89370400440532013000';
export const UA_IBAN = 'UA213223130000026007233566001';
export const BITCOIN = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
export const ETHEREUM = '0x52908400098527886E0F7030069857D2E4169EE7';
export const TRON = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';

/** One valid create request per type. */
export const REQUESTS: CreateRequests = {
  deposit: { order_id: 'd-1', currency: 'usd', network: 'card', amount: '100.00' },
  deposit_exchange: {
    order_id: 'dx-1',
    currency_from: 'btc',
    network_from: 'bitcoin',
    amount: '0.01',
    currency_to: 'usd',
  },
  deposit_exchange_withdraw: {
    order_id: 'dxw-1',
    currency_from: 'btc',
    network_from: 'bitcoin',
    amount: '0.01',
    currency_to: 'usd',
    network_to: 'card',
    wallet: CARD,
  },
  exchange: { order_id: 'x-1', currency_from: 'usd', currency_to: 'btc', amount: '10' },
  exchange_withdraw: {
    order_id: 'xw-1',
    currency_from: 'usd',
    amount_to: '0.5',
    currency_to: 'eth',
    network_to: 'ethereum',
    wallet: ETHEREUM,
    delay_order_for_minutes: 5,
  },
  withdraw: { order_id: 'w-1', currency: 'usd', network: 'card', amount: '25.50', wallet: CARD },
};

/** A valid withdraw of 10 to several cards. */
export const CARDS_REQUEST: CreateRequests['withdraw'] = {
  order_id: 'cards-1',
  currency: 'usd',
  network: 'multiple_cards',
  amount: '0.3',
  wallet: 'several',
  wallet_details: [
    { amount: '0.1', wallet: CARD },
    { amount: '0.2', wallet: OTHER_CARD },
  ],
};

/** An input of a type with some fields of its order replaced (undefined removes one). */
export const inputWith = (type: OrderType, changes: Record<string, unknown>, rest: Record<string, unknown> = {}) => ({
  order: { ...REQUESTS[type], ...changes },
  ...rest,
});

/** The plain input of a type. */
export const inputOf = (type: OrderType): OrderInput => ({ order: REQUESTS[type] });

const NULLS = Object.fromEntries(Object.keys(orderSchema.shape).map((field) => [field, null])) as unknown as Order;

/** The service's order for a request, as the documentation says its type looks. */
export function orderFor(type: OrderType, request: CreateRequests[OrderType], changes: Partial<Order> = {}): Order {
  const fields: RequestFields = request;
  const sides = orderSides(type, request);
  return {
    ...NULLS,
    order_uuid: '0d6ae69e-0000-4000-8000-000000000001',
    order_type: type,
    user_order_id: fields.order_id,
    expected_amount_from: fields.amount ?? '777',
    currency_from: sides.currencyFrom,
    network_from: sides.networkFrom,
    expected_amount_to: fields.amount_to ?? '888',
    strict_withdrawal_amount: fields.amount_to !== undefined,
    currency_to: sides.currencyTo,
    network_to: type === 'deposit' ? sides.networkFrom : sides.networkTo,
    wallet_to: fields.wallet ?? null,
    wallet_memo_to: fields.wallet_memo ?? null,
    wallet_to_details: fields.wallet_details ?? null,
    status: 'new',
    error_code: 0,
    error_message: '',
    created_at: '2026-01-02 03:04:05',
    updated_at: '2026-01-02 03:04:05',
    currency_from_precision: 2,
    currency_to_precision: 2,
    ...changes,
  };
}
