import { addressTerms } from './addresses.js';
import { fakeHex } from './chance.js';
import type { Life } from './life.js';
import { checkedMarker } from './marker-checks.js';
import { decimal, roundDown, text } from './money.js';
import type { NewOrder } from './orders.js';
import { planOrder } from './plan.js';
import { quoteFrom } from './quote.js';
import { inPrecision, type Terms } from './rates.js';
import type { DepositAddress, StoredOrder } from './stored.js';
import type { World } from './world.js';

/** A deposit that arrives at a permanent address. `amount` is a decimal string; the description may hold a marker. */
export interface Receipt {
  addressUuid: string;
  amount: string;
  description?: string;
}

/** Takes a deposit on a permanent address: an order is born that nobody requested. Throws RangeError on a bad receipt. */
export function receiveDeposit(world: World, life: Life, receipt: Receipt): StoredOrder {
  const address = world.store.addresses.get(receipt.addressUuid);
  const terms = address && addressTerms(world, address);
  if (!address || !terms) throw new RangeError('no such deposit address');
  if (!/^\d+(\.\d+)?$/.test(receipt.amount) || !inPrecision(receipt.amount, terms.precisionFrom)) {
    throw new RangeError('amount must be a decimal string in the precision of the currency');
  }
  if (decimal(receipt.amount).lte(0)) throw new RangeError('amount must be greater than 0');
  const made = orderOf(world, address, terms, receipt);
  const stored = life.begin(made);
  const arrived = roundDown(decimal(receipt.amount).times(made.plan.paid), terms.precisionFrom);
  world.store.keep({ kind: 'address', address: withReceipt(address, text(arrived)) });
  return stored;
}

function orderOf(world: World, address: DepositAddress, terms: Terms, receipt: Receipt): NewOrder {
  const { store, settings, options } = world;
  const key = `receipt\0${store.receipts + 1}`;
  const quote = quoteFrom(receipt.amount, terms);
  const marker = checkedMarker(receipt.description, 'create');
  // What becomes of deposits outside the limits is not documented; here they are not credited, unless a marker says so.
  const admitted = isAdmitted(receipt.amount, terms) && decimal(quote.to).gt(0);
  const fate = admitted || marker.outcome ? marker : { ...marker, outcome: 'error' as const };
  return {
    key,
    orderId: orderIdOf(settings.receiptOrderId, `${options.seed} ${key}`),
    terms,
    quote,
    plan: planOrder(terms.orderType, key, fate, settings, options.seed),
    strict: false,
    description: receipt.description ?? null,
    callbackUrl: address.callback_url,
    clientInfo: address.client_id === null ? {} : { client_id: address.client_id },
    wallet: null,
    walletMemo: null,
    walletDetails: null,
    address: {
      uuid: address.uuid,
      address: address.address,
      memo: address.memo,
      title: address.address_title,
      initialOrderUuid: store.firstOrders.get(address.uuid) ?? null,
    },
  };
}

const isAdmitted = (amount: string, { min, max }: Terms): boolean =>
  decimal(amount).gte(min) && (max === null || decimal(amount).lte(max));

/** null: the order's own uuid. */
function orderIdOf(mode: World['settings']['receiptOrderId'], key: string): string | null {
  if (mode === 'uuid') return null;
  return mode === 'empty' ? '' : `rcv-${fakeHex(`receipt ${key}`, 16)}`;
}

const withReceipt = (address: DepositAddress, amount: string): DepositAddress => ({
  ...address,
  total_received_amount: text(decimal(address.total_received_amount ?? '0').plus(amount)),
  total_received_deposits: (address.total_received_deposits ?? 0) + 1,
});
