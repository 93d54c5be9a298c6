const USUALLY_NULL = (
  'description amount_from network_from deposit_from_user wallet_from wallet_memo_from amount_to network_to ' +
  'withdraw_to_user wallet_to wallet_memo_to wallet_to_details wallet_to_transactions amount_from_fee amount_to_fee ' +
  'deposit_url deposit_address deposit_memo deposit_address_title deposit_address_initial_order_uuid ' +
  'blockchain_deposit_hash blockchain_withdrawal_hash exchange_rate_initial exchange_rate_actual client_info ' +
  'finalized_at start_order_at'
).split(' ');

/** Usual values of an order. Activity answers leave them out, which halves their size in histories. */
const USUAL: Record<string, unknown> = {
  ...Object.fromEntries(USUALLY_NULL.map((field) => [field, null])),
  strict_withdrawal_amount: false,
  error_code: 0,
  error_message: '',
};

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Compacts an activity's answer: leaves out usual values of its order. */
export const leanAnswer = <T>(answer: T): T => withOrders(answer, leanOrder);

export const wholeAnswer = <T>(answer: T): T => withOrders(answer, (order) => ({ ...USUAL, ...order }));

/** Answers are orders, or hold one under `order`. */
function withOrders<T>(answer: T, change: (order: object) => object): T {
  if (!isObject(answer)) return answer;
  if ('order_uuid' in answer) return change(answer) as T;
  return 'order' in answer && isObject(answer.order) ? { ...answer, order: change(answer.order) } : answer;
}

const leanOrder = (order: object): object =>
  Object.fromEntries(
    Object.entries(order).filter(([field, value]) => !Object.hasOwn(USUAL, field) || value !== USUAL[field]),
  );
