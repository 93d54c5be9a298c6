import { randomUUID } from 'node:crypto';
import { fakeHex } from './chance.js';
import { dateTime } from './clock.js';
import type { Execution } from './execution.js';
import type { Plan } from './plan.js';
import type { Quote } from './quote.js';
import type { Terms } from './rates.js';
import type { OrderObject, StoredOrder } from './stored.js';

/** What a new order is made of. */
export interface NewOrder {
  key: string;
  /** null: the same as the service's identifier. */
  orderId: string | null;
  /** The service's identifier; made up when left out. */
  orderUuid?: string;
  terms: Terms;
  quote: Quote;
  plan: Plan;
  strict: boolean;
  description: string | null;
  callbackUrl: string | null;
  clientInfo: Record<string, string | undefined>;
  wallet: string | null;
  walletMemo: string | null;
  walletDetails: unknown;
  delayMinutes?: number;
  address?: { uuid: string; address: string; memo: string | null; title: string; initialOrderUuid: string | null };
}

/** True for networks on which clients pay on a page instead of to an address. */
const paysOnPage = (network: string): boolean => network === 'card' || network === 'sepa' || network === 'bank';

/** Where the client pays: a page or an address; nothing for types that begin on the balance. */
function depositTarget(made: NewOrder, uuid: string) {
  const { networkFrom: network } = made.terms;
  const { address } = made;
  const page = network !== null && !address && paysOnPage(network);
  const generated = network !== null && !page ? depositAddress(network, uuid) : null;
  return {
    deposit_url: page ? `https://pay.sandbox.example/${uuid}` : null,
    deposit_address: address?.address ?? generated,
    deposit_memo: address?.memo ?? null,
    deposit_address_title: address?.title || null,
    deposit_address_initial_order_uuid: address?.initialOrderUuid ?? null,
  };
}

/** A made-up blockchain address in the look of the network. Nobody holds its key. */
export function depositAddress(network: string, key: string): string {
  const prefix: Readonly<Record<string, string>> = { bitcoin: 'bc1q', ethereum: '0x', tron: 'T' };
  return `${prefix[network] ?? ''}${fakeHex(`address ${key}`, network === 'tron' ? 33 : 40)}`;
}

/** The fields a type fills from its terms and quote; see "Per-type shape of created orders" of the interface. */
function amountFields(made: NewOrder) {
  const { terms, quote } = made;
  const isDeposit = terms.orderType === 'deposit';
  return {
    expected_amount_from: quote.from,
    amount_from: null,
    currency_from: terms.currencyFrom,
    network_from: terms.networkFrom,
    expected_amount_to: quote.to,
    amount_to: null,
    strict_withdrawal_amount: made.strict,
    currency_to: terms.currencyTo,
    // Rates say null here for deposits, the order says the network of the payment.
    network_to: isDeposit ? terms.networkFrom : terms.networkTo,
    amount_from_fee: terms.feeFrom ? quote.feeFrom : null,
    amount_to_fee: terms.feeTo ? quote.feeTo : null,
    exchange_rate_initial: quote.rate,
    exchange_rate_actual: quote.rate,
    currency_from_precision: terms.precisionFrom,
    currency_to_precision: terms.precisionTo,
  };
}

/** Builds the order object as the create operation answers it. */
export function createOrderObject(made: NewOrder, nowMs: number, startAtMs: number): OrderObject {
  const uuid = made.orderUuid ?? randomUUID();
  return {
    order_uuid: uuid,
    order_type: made.terms.orderType,
    user_order_id: made.orderId ?? uuid,
    description: made.description,
    ...amountFields(made),
    deposit_from_user: null,
    wallet_from: null,
    wallet_memo_from: null,
    withdraw_to_user: null,
    wallet_to: made.wallet,
    wallet_memo_to: made.walletMemo,
    wallet_to_details: made.walletDetails,
    wallet_to_transactions: Array.isArray(made.walletDetails) ? [] : null,
    ...depositTarget(made, uuid),
    blockchain_deposit_hash: null,
    blockchain_withdrawal_hash: null,
    client_info: made.clientInfo,
    status: made.terms.feeFrom && !made.address ? 'new' : 'processing',
    error_code: 0,
    error_message: '',
    created_at: dateTime(nowMs),
    updated_at: dateTime(nowMs),
    finalized_at: null,
    start_order_at: made.delayMinutes === undefined ? null : dateTime(startAtMs),
  };
}

const isChain = (network: string | null): boolean =>
  network !== null && ['bitcoin', 'ethereum', 'tron'].includes(network);

/** What becomes visible when the client has paid. */
export function paidFields(order: OrderObject): Partial<OrderObject> {
  const chain = isChain(order.network_from);
  const payer = chain ? depositAddress(order.network_from ?? '', `payer ${order.order_uuid}`) : null;
  return {
    wallet_from: payer ?? '400000******0002',
    blockchain_deposit_hash: chain ? fakeHex(`deposit ${order.order_uuid}`, 64) : null,
  };
}

/** The fields that say how an order stands; `final` is false for a status that it fell back to. */
export function statusFields(status: string, final: boolean, nowMs: number): Partial<OrderObject> {
  const failed = status === 'error';
  return {
    status,
    error_code: failed ? 1001 : 0,
    error_message: failed ? 'The order was not executed' : '',
    updated_at: dateTime(nowMs),
    finalized_at: final ? dateTime(nowMs) : null,
  };
}

/** The order object after its execution. */
export function finalFields(stored: StoredOrder, done: Execution, nowMs: number): Partial<OrderObject> {
  const { order, terms, plan } = stored;
  const hash = done.paidOut && isChain(order.network_to) ? fakeHex(`payout ${order.order_uuid}`, 64) : null;
  return {
    ...(done.deposited ? paidFields(order) : { wallet_from: null, blockchain_deposit_hash: null }),
    ...statusFields(plan.outcome, true, nowMs),
    amount_from: done.amountFrom,
    amount_to: done.amountTo,
    ...(!plan.quotedFees && {
      amount_from_fee: terms.feeFrom ? done.feeFrom : null,
      amount_to_fee: terms.feeTo ? done.feeTo : null,
    }),
    exchange_rate_actual: done.rate,
    blockchain_withdrawal_hash: hash,
    wallet_to_transactions:
      done.paidOut && Array.isArray(order.wallet_to_details) ? order.wallet_to_details : order.wallet_to_transactions,
  };
}
