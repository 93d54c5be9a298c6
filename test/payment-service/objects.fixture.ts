import type { CreateRequests } from '../../src/contract/order/request.js';

export const WALLET = '4111111111111111';

/** A withdraw order as the service answers it, with fields replaced. */
export const orderObject = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  order_uuid: '3f0c8c2e-5b8e-4f0e-9d6a-000000000001',
  order_type: 'withdraw',
  user_order_id: 'w-1',
  description: null,
  expected_amount_from: '101.50',
  amount_from: null,
  currency_from: 'usd',
  network_from: null,
  deposit_from_user: null,
  wallet_from: null,
  wallet_memo_from: null,
  expected_amount_to: '100.00',
  amount_to: null,
  strict_withdrawal_amount: false,
  currency_to: 'usd',
  network_to: 'card',
  withdraw_to_user: null,
  wallet_to: WALLET,
  wallet_memo_to: null,
  wallet_to_details: null,
  wallet_to_transactions: [],
  amount_from_fee: null,
  amount_to_fee: '1.50',
  deposit_url: null,
  deposit_address: null,
  deposit_memo: null,
  deposit_address_title: null,
  deposit_address_initial_order_uuid: null,
  blockchain_deposit_hash: null,
  blockchain_withdrawal_hash: null,
  exchange_rate_initial: null,
  exchange_rate_actual: null,
  client_info: { client_id: 'c-1' },
  status: 'new',
  error_code: 0,
  error_message: '',
  created_at: '2026-01-02 03:04:05',
  updated_at: '2026-01-02 03:04:05',
  finalized_at: null,
  start_order_at: null,
  currency_from_precision: 2,
  currency_to_precision: 2,
  ...changes,
});

/** An address as the service answers it, with fields replaced. */
export const addressObject = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  uuid: 'a-1',
  client_id: null,
  currency: 'btc',
  network: 'bitcoin',
  currency_to: null,
  address_title: '',
  address: 'bc1qtest',
  memo: null,
  callback_url: null,
  created_at: '2026-01-02 03:04:05',
  min_amount: '0.0001',
  max_amount: '10',
  total_received_amount: null,
  total_received_deposits: 0,
  ...changes,
});

/** A rate entry as the service answers it, with fields replaced. */
export const rateObject = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  order_type: 'withdraw',
  currency_from: 'usd',
  network_from: null,
  currency_to: 'usd',
  network_to: 'card',
  exchange_rate: null,
  min_amount_from: '10',
  max_amount_from: null,
  fixed_fee_amount_from: null,
  fixed_fee_amount_to: '1',
  fee_percent_from: null,
  fee_percent_to: '0.5',
  min_fee_amount_from: null,
  min_fee_amount_to: null,
  fee_percent_from_payer: null,
  fee_percent_to_payer: 'merchant',
  currency_from_precision: 2,
  currency_to_precision: 2,
  ...changes,
});

/** A payout to a card. */
export const withdrawRequest = (changes: Partial<CreateRequests['withdraw']> = {}): CreateRequests['withdraw'] => ({
  order_id: 'w-1',
  currency: 'usd',
  network: 'card',
  amount: '100.00',
  wallet: WALLET,
  ...changes,
});

/** A wallet as the service answers it. */
export const balanceObject = (walletUuid: string): Record<string, unknown> => ({
  currency: 'usd',
  wallet_uuid: walletUuid,
  amount: '1000',
  overdraft: '0',
  updated_at: '2026-01-02 03:04:05',
  currency_precision: 2,
});
