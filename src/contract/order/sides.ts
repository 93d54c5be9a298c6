import type { Amount } from '../money.js';
import type { ClientInfo, CreateRequest, OrderType, WalletDetails } from './orders.js';

/** Every field a create request may have, seen without its type: lets one function read requests of all six types. */
export interface RequestFields {
  order_id: string;
  description?: string | null;
  client_info?: ClientInfo | null;
  currency?: string;
  network?: string;
  currency_from?: string;
  network_from?: string;
  currency_to?: string;
  network_to?: string;
  amount?: Amount;
  amount_to?: Amount;
  wallet?: string;
  wallet_memo?: string | null;
  wallet_details?: WalletDetails | null;
  delay_order_for_minutes?: number;
}

/** What an order starts from and ends in, as the service's order and rate objects name it; null where a side has no network. */
export interface OrderSides {
  currencyFrom: string;
  networkFrom: string | null;
  currencyTo: string;
  networkTo: string | null;
}

/** True for the types that end in a payout to a wallet. */
export const paysOut = (type: OrderType): boolean =>
  type === 'withdraw' || type === 'exchange_withdraw' || type === 'deposit_exchange_withdraw';

/** The two sides of a create request. `deposit` and `withdraw` have one currency, which stands on both sides. */
export function orderSides(type: OrderType, order: CreateRequest): OrderSides {
  const fields: RequestFields = order;
  const single = fields.currency ?? '';
  if (type === 'deposit') {
    return { currencyFrom: single, networkFrom: fields.network ?? null, currencyTo: single, networkTo: null };
  }
  if (type === 'withdraw') {
    return { currencyFrom: single, networkFrom: null, currencyTo: single, networkTo: fields.network ?? null };
  }
  return {
    currencyFrom: fields.currency_from ?? '',
    networkFrom: fields.network_from ?? null,
    currencyTo: fields.currency_to ?? '',
    networkTo: fields.network_to ?? null,
  };
}
