import type { Order } from '../service-objects.js';

/**
 * Every field of an order with its usual value (undefined: none). Activity answers leave usual
 * values out, which halves their size in histories.
 */
const USUAL: { readonly [Field in keyof Required<Order>]: Order[Field] | undefined } = {
  order_uuid: undefined,
  order_type: undefined,
  user_order_id: undefined,
  description: null,
  expected_amount_from: undefined,
  amount_from: null,
  currency_from: undefined,
  network_from: null,
  deposit_from_user: null,
  wallet_from: null,
  wallet_memo_from: null,
  expected_amount_to: undefined,
  amount_to: null,
  strict_withdrawal_amount: false,
  currency_to: undefined,
  network_to: null,
  withdraw_to_user: null,
  wallet_to: null,
  wallet_memo_to: null,
  wallet_to_details: null,
  wallet_to_transactions: null,
  amount_from_fee: null,
  amount_to_fee: null,
  deposit_url: null,
  deposit_address: null,
  deposit_memo: null,
  deposit_address_title: null,
  deposit_address_initial_order_uuid: null,
  blockchain_deposit_hash: null,
  blockchain_withdrawal_hash: null,
  exchange_rate_initial: null,
  exchange_rate_actual: null,
  client_info: null,
  status: undefined,
  error_code: 0,
  error_message: '',
  created_at: undefined,
  updated_at: undefined,
  finalized_at: null,
  start_order_at: null,
  currency_from_precision: undefined,
  currency_to_precision: undefined,
  unreadable: undefined,
};

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Compacts an activity's answer: leaves out usual values of its order. */
export const leanAnswer = <T>(answer: T): T => withOrders(answer, leanOrder);

/** Expands an activity's answer again. */
export const wholeAnswer = <T>(answer: T): T => withOrders(answer, (order) => ({ ...USUAL, ...order }));

/** Answers are orders, or hold one under `order`. */
function withOrders<T>(answer: T, change: (order: object) => object): T {
  if (!isObject(answer)) return answer;
  if ('order_uuid' in answer) return change(answer) as T;
  return 'order' in answer && isObject(answer.order) ? { ...answer, order: change(answer.order) } : answer;
}

const leanOrder = (order: object): object =>
  Object.fromEntries(
    Object.entries(order).filter(([field, value]) => value === undefined || value !== USUAL[field as keyof Order]),
  );
