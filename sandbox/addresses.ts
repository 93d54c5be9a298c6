import { randomUUID } from 'node:crypto';
import { type Answer, success } from './answer.js';
import { dateTime } from './clock.js';
import type { Life } from './life.js';
import { readMarker } from './markers.js';
import { decimal, text } from './money.js';
import { depositAddress, type StoredOrder } from './orders.js';
import { planOrder } from './plan.js';
import { quoteFrom } from './quote.js';
import { findTerms, inPrecision, type OrderType, type Terms } from './rates.js';
import { ADDRESS_LIST_SCHEMA, ADDRESS_SCHEMA, BadRequest, check } from './requests.js';
import type { World } from './world.js';

/** The deposit address object of the interface. */
export interface DepositAddress {
  uuid: string;
  client_id: string | null;
  currency: string;
  network: string;
  currency_to: string | null;
  address_title: string;
  address: string;
  memo: string | null;
  callback_url: string | null;
  created_at: string;
  min_amount: string;
  max_amount: string;
  total_received_amount: string | null;
  total_received_deposits: number | null;
}

/** A deposit that arrives at a permanent address. `amount` is a decimal string; the description may hold a marker. */
export interface Receipt {
  addressUuid: string;
  amount: string;
  description?: string;
}

type AddressPair = Pick<DepositAddress, 'currency' | 'network' | 'currency_to'>;

function termsOf({ currency, network, currency_to: currencyTo }: AddressPair): Terms | undefined {
  const type: OrderType = currencyTo === null ? 'deposit' : 'deposit_exchange';
  const terms = findTerms(type, {
    currencyFrom: currency,
    networkFrom: network,
    currencyTo: currencyTo ?? currency,
    networkTo: null,
  });
  // Permanent addresses are for blockchains only.
  return ['bitcoin', 'ethereum', 'tron'].includes(network) ? terms : undefined;
}

/** Answers the deposit address creation. Throws BadRequest. */
export function answerAddressCreate({ store }: World, value: unknown): Answer {
  const body = check(ADDRESS_SCHEMA, value);
  const pair = { currency: body.currency, network: body.network, currency_to: body.currency_to ?? null };
  const terms = termsOf(pair);
  if (!terms) throw new BadRequest({ currency: 'no permanent addresses for this pair' });
  const uuid = randomUUID();
  const address: DepositAddress = {
    uuid,
    client_id: body.client_info?.client_id ?? null,
    ...pair,
    address_title: body.address_title ?? '',
    address: depositAddress(body.network, uuid),
    memo: null,
    callback_url: body.callback_url ?? null,
    created_at: dateTime(Date.now()),
    min_amount: terms.min,
    max_amount: terms.max ?? '',
    total_received_amount: null,
    total_received_deposits: null,
  };
  store.keep({ kind: 'address', address });
  return success(address);
}

/** Answers the deposit address list. Throws BadRequest. */
export function answerAddressList({ store }: World, value: unknown): Answer {
  const { currency, network, limit, page } = check(ADDRESS_LIST_SCHEMA, value);
  const found = [...store.addresses.values()]
    .filter((address) => currency === undefined || address.currency === currency)
    .filter((address) => network === undefined || address.network === network)
    .sort((a, b) => (a.uuid < b.uuid ? -1 : 1));
  return success(found.slice((page - 1) * limit, page * limit));
}

/** Takes a deposit on a permanent address: an order is born that nobody requested. Throws RangeError on a bad receipt. */
export function receiveDeposit(world: World, life: Life, receipt: Receipt): StoredOrder {
  const { store, settings, options } = world;
  const address = store.addresses.get(receipt.addressUuid);
  const terms = address && termsOf(address);
  if (!address || !terms) throw new RangeError('no such deposit address');
  if (!/^\d+(\.\d+)?$/.test(receipt.amount) || !inPrecision(receipt.amount, terms.precisionFrom)) {
    throw new RangeError('amount must be a decimal string in the precision of the currency');
  }
  const quote = quoteFrom(receipt.amount, terms);
  if (decimal(receipt.amount).lt(terms.min) || decimal(quote.to).lte(0)) throw new RangeError('amount is too small');
  const earlier = [...store.orders.values()].filter(({ order }) => order.deposit_address === address.address);
  const [first] = earlier.sort((a, b) => a.createdAtMs - b.createdAtMs);
  const key = `${address.uuid} ${earlier.length}`;
  const stored = life.begin({
    orderId: null,
    terms,
    quote,
    plan: planOrder(terms.orderType, key, readMarker(receipt.description), settings.outcomes, options.seed),
    strict: false,
    description: receipt.description ?? null,
    callbackUrl: address.callback_url,
    clientInfo: address.client_id === null ? {} : { client_id: address.client_id },
    wallet: null,
    walletMemo: null,
    walletDetails: null,
    address: {
      address: address.address,
      memo: address.memo,
      title: address.address_title,
      initialOrderUuid: first?.order.order_uuid ?? null,
    },
  });
  store.keep({ kind: 'address', address: withReceipt(address, receipt.amount) });
  return stored;
}

const withReceipt = (address: DepositAddress, amount: string): DepositAddress => ({
  ...address,
  total_received_amount: text(decimal(address.total_received_amount ?? '0').plus(amount)),
  total_received_deposits: (address.total_received_deposits ?? 0) + 1,
});
