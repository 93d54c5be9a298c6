import { passesLuhn } from '../../src/contract/masking.js';
import { MAX_CARDS } from '../../src/contract/wallets.js';
import { validateOrderInput } from '../../src/validation/order-input.js';

const EITHER = ['description', 'wallet', 'wallet_memo', 'client_id', 'client_email', 'order_id'] as const;
type Text = (typeof EITHER)[number];

/** Longest amount that we send: 40 characters, of which the parts have 39 or 40. */
const PART = `${'1'.repeat(9)}.${'1'.repeat(30)}`;
const TOTAL = `${'1'.repeat(11)}.${'1'.repeat(28)}`;

/** Cards of 19 digits, no two alike. */
const CARDS = Array.from({ length: MAX_CARDS }, (_, n) => {
  const stem = `41111111111111${String(n).padStart(4, '0')}`;
  return stem + Array.from('0123456789').find((digit) => passesLuhn(stem + digit));
});

/** What fills a text: a letter that JSON may escape, if the field takes it, else ASCII. */
const FILLERS: Record<Text, (length: number, letter: string) => string> = {
  description: (length, letter) => letter.repeat(length),
  wallet: (length, letter) => letter.repeat(length),
  wallet_memo: (length, letter) => letter.repeat(length),
  client_id: (length, letter) => letter.repeat(length),
  client_email: (length, letter) => `a@${letter.repeat(Math.max(length - 6, 1))}.org`,
  order_id: (length, letter) => letter.repeat(length),
};

function inputWith(texts: Partial<Record<Text, string>>) {
  const { client_id, client_email, ...others } = texts;
  return {
    order: {
      order_id: 'largest-1',
      currency_from: 'b'.repeat(16),
      network_from: 'n'.repeat(32),
      currency_to: 'c'.repeat(16),
      network_to: 'multiple_cards',
      amount_to: TOTAL,
      wallet: '-',
      wallet_details: CARDS.map((wallet) => ({ amount: PART, wallet })),
      client_info: { client_ip: 'ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255', client_id, client_email },
      ...others,
    },
  };
}

const isAccepted = (texts: Partial<Record<Text, string>>): boolean =>
  !('errors' in validateOrderInput('deposit_exchange_withdraw', inputWith(texts)));

/** Returns JSON as the most wasteful writers do: everything that is no ASCII as \uXXXX. */
export const escaped = (value: unknown): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII has them.
  JSON.stringify(value).replace(/[^\x00-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Returns the text of a field that takes the most bytes among those that validation accepts. */
function longest(field: Text): string {
  const candidates = ['\u00e9', 'a', '7'].map((letter) => {
    let [fits, tooLong] = [0, 8_192];
    while (tooLong - fits > 1) {
      const middle = Math.floor((fits + tooLong) / 2);
      if (isAccepted({ [field]: FILLERS[field](middle, letter) })) fits = middle;
      else tooLong = middle;
    }
    return fits === 0 ? '' : FILLERS[field](fits, letter);
  });
  return candidates.reduce((most, text) => (escaped(text).length > escaped(most).length ? text : most));
}

/** Builds the order object of the largest order that we may send, as the service may echo it when it has ended. */
export function largestOrder(): { user_order_id: string } & Record<string, unknown> {
  const texts = Object.fromEntries(EITHER.map((field) => [field, longest(field)])) as Record<Text, string>;
  const { order } = inputWith(texts);
  if (!isAccepted(texts)) throw new Error('the largest order is not one that we may send');
  const [uuid, at, hash] = ['0'.repeat(64), '2026-01-01T00:00:00.000000+00:00', 'f'.repeat(130)];
  const parts = order.wallet_details;
  return {
    order_uuid: uuid,
    order_type: 'deposit_exchange_withdraw',
    user_order_id: texts.order_id,
    description: texts.description,
    expected_amount_from: TOTAL,
    amount_from: TOTAL,
    currency_from: order.currency_from,
    network_from: order.network_from,
    deposit_from_user: uuid,
    wallet_from: 'w'.repeat(200),
    wallet_memo_from: texts.wallet_memo,
    expected_amount_to: TOTAL,
    amount_to: TOTAL,
    strict_withdrawal_amount: true,
    currency_to: order.currency_to,
    network_to: order.network_to,
    withdraw_to_user: uuid,
    wallet_to: texts.wallet,
    wallet_memo_to: texts.wallet_memo,
    wallet_to_details: parts,
    // Not documented: the parts, and what a service may tell of each transaction.
    wallet_to_transactions: parts.map((part) => ({
      ...part,
      ...{ transaction_uuid: uuid, hash, currency: order.currency_to, status: 'completed_partially' },
      ...{ created_at: at, finalized_at: at, error_code: 0, error_message: '' },
    })),
    amount_from_fee: TOTAL,
    amount_to_fee: TOTAL,
    deposit_url: `https://pay.example/${'u'.repeat(2_000)}`,
    deposit_address: 'w'.repeat(200),
    deposit_memo: texts.wallet_memo,
    deposit_address_title: texts.description,
    deposit_address_initial_order_uuid: uuid,
    blockchain_deposit_hash: hash,
    blockchain_withdrawal_hash: hash,
    exchange_rate_initial: TOTAL,
    exchange_rate_actual: TOTAL,
    client_info: order.client_info,
    status: 'completed_partially',
    error_code: 999_999,
    error_message: texts.description,
    created_at: at,
    updated_at: at,
    finalized_at: at,
    start_order_at: at,
    currency_from_precision: 30,
    currency_to_precision: 30,
  };
}
