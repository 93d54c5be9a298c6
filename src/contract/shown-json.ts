import { maskWallet, maskWords } from './masking.js';
import { maskWallets } from './wallets.js';

/** Wallet fields, shown by their last characters. */
const WALLETS: ReadonlySet<string> = new Set(['wallet', 'wallet_from', 'wallet_to']);

/** Fields with personal texts: memos, details of payees, clients; not their amounts and states. */
const PRIVATE: ReadonlySet<string> = new Set([
  'wallet_memo',
  'wallet_memo_from',
  'wallet_memo_to',
  'wallet_details',
  'wallet_to_details',
  'wallet_to_transactions',
  'deposit_from_user',
  'withdraw_to_user',
  'client_info',
]);
const NOT_PRIVATE: ReadonlySet<string> = new Set(['amount', 'status', 'currency']);

/** Free text with any content. */
const TEXTS: ReadonlySet<string> = new Set(['description', 'error_message']);

/** Fields that tell a client where to pay. */
const IN_FULL = /^(?:address|deposit_(?:address|memo|url))$/;

/**
 * Returns a copy for `--json` with masked wallets, payees and clients. Deposit targets stay
 * complete.
 */
export function withoutWallets(value: unknown, name = '', isPrivate = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutWallets(item, name, isPrivate));
  // A Date prints itself.
  if (value instanceof Date) return value;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(([key, field]) => [
      key,
      // Callers choose the names of their metadata.
      name === 'metadata' ? withoutWallets(field) : withoutWallets(field, key, isPrivate || PRIVATE.has(key)),
    ]);
    return Object.fromEntries(fields);
  }
  if (typeof value === 'boolean' || value === null || value === undefined) return value;
  if (WALLETS.has(name) && value !== '') return maskWallet(String(value));
  if (isPrivate && !NOT_PRIVATE.has(name)) return '****';
  if (typeof value !== 'string' || IN_FULL.test(name)) return value;
  return TEXTS.has(name) ? maskWords(value) : maskWallets(value);
}

const BALANCES: ReadonlySet<string> = new Set(['balanceBefore', 'balanceAfter']);
const NEEDS_READ: ReadonlySet<string> = new Set(['shortfall', 'paidBefore']);
/**
 * Figures in sentences such as `the balance of 5 usd is less than 7`, `2 usd are missing` and
 * `the total would be 9 usd`.
 */
const FIGURE = /-?\d+(?:\.\d+)?(?= \S+ (?:is less than|are missing)\b)|(?<=\bthe total would be )\d+(?:\.\d+)?/g;
/** Day and id of an earlier order, and all that follows. */
const EARLIER_ORDER = /(?<= were paid to this payee) on .*/s;

/**
 * Returns a copy without the merchant's balances, as if they could not be read, and without the
 * sums and payouts of other orders.
 */
export function withoutFigures(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(FIGURE, '…').replace(EARLIER_ORDER, '');
  if (Array.isArray(value)) return value.map(withoutFigures);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const fields = Object.entries(value).filter(([name]) => !NEEDS_READ.has(name));
  return Object.fromEntries(fields.map(([name, field]) => [name, BALANCES.has(name) ? null : withoutFigures(field)]));
}
