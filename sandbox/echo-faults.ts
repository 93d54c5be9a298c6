import { type Decimal, decimal, roundDown, text } from './money.js';

type Fields = Record<string, unknown>;

/** One way of showing an order otherwise than it was asked for, though it is the same order. */
export interface EchoFault {
  name: string;
  what: string;
  change: (order: Fields) => Fields;
}

const ofText = (value: unknown, write: (text: string) => string): unknown =>
  typeof value === 'string' ? write(value) : value;

/** The payout wallet written otherwise, also those of several cards. */
function withWallets(order: Fields, write: (wallet: string) => string): Fields {
  const { wallet_to: wallet, wallet_to_details: details } = order;
  const parts = (value: unknown) =>
    Array.isArray(value) ? value.map((part: Fields) => ({ ...part, wallet: ofText(part.wallet, write) })) : value;
  return { ...order, wallet_to: ofText(wallet, write), wallet_to_details: parts(details) };
}

const masked = (wallet: string): string =>
  wallet.length < 12 ? wallet : `${wallet.slice(0, 6)}${'X'.repeat(wallet.length - 10)}${wallet.slice(-4)}`;

const inGroups = (wallet: string): string => wallet.replace(/.{4}(?=.)/g, '$& ');

function withExtraKey(details: unknown): unknown {
  if (Array.isArray(details)) return details.map(withExtraKey);
  return typeof details === 'object' && details !== null ? { ...details, bank_name: 'Bank of the sandbox' } : details;
}

/** The name of the payee, and that of the bank, written otherwise. */
function withNames(order: Fields, write: (name: string) => string): Fields {
  const details = order.wallet_to_details as Fields | null;
  const names = ['recipient_name', 'recipient_bank'].filter((key) => typeof details?.[key] === 'string');
  const written = names.map((key) => [key, write(String(details?.[key]))]);
  return { ...order, wallet_to_details: details && { ...details, ...Object.fromEntries(written) } };
}

const GERMAN: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss', Ä: 'Ae', Ö: 'Oe', Ü: 'Ue' };
const inAscii = (name: string): string =>
  name.replace(/[^\0-\x7f]/g, (letter) => GERMAN[letter] ?? letter.normalize('NFD').replace(/[^\0-\x7f]/g, ''));

function withFeeOnTop(order: Fields): Fields {
  const { expected_amount_from: from, amount_from_fee: fee } = order;
  if (typeof from !== 'string' || typeof fee !== 'string') return order;
  return { ...order, expected_amount_from: text(decimal(from).plus(decimal(fee))) };
}

/** One place less than the currency has, and stated so. */
function rounded(order: Fields): Fields {
  const side = (name: 'from' | 'to') => {
    const [amount, places] = [order[`expected_amount_${name}`], order[`currency_${name}_precision`]];
    if (typeof amount !== 'string' || typeof places !== 'number' || places === 0) return {};
    const cut: Decimal = roundDown(decimal(amount), places - 1);
    return { [`expected_amount_${name}`]: text(cut), [`currency_${name}_precision`]: places - 1 };
  };
  return { ...order, ...side('from'), ...side('to') };
}

/** Orders shown in another form: every one of them is the order that was asked for. */
export const ECHO_FAULTS: readonly EchoFault[] = [
  {
    name: 'echo-lower-case',
    what: 'wallets in lower case',
    change: (order) => withWallets(order, (wallet) => wallet.toLowerCase()),
  },
  { name: 'echo-masked', what: 'the middle of wallets as X', change: (order) => withWallets(order, masked) },
  { name: 'echo-blanks', what: 'wallets in groups of four', change: (order) => withWallets(order, inGroups) },
  { name: 'echo-no-wallet', what: 'wallet_to null', change: (order) => ({ ...order, wallet_to: null }) },
  {
    name: 'echo-no-details',
    what: 'wallet_to_details null',
    change: (order) => ({ ...order, wallet_to_details: null }),
  },
  {
    name: 'echo-details-text',
    what: 'wallet_to_details as JSON text',
    change: (order) => ({ ...order, wallet_to_details: JSON.stringify(order.wallet_to_details) }),
  },
  {
    name: 'echo-extra-key',
    what: 'a key in wallet_to_details that nobody sent',
    change: (order) => ({ ...order, wallet_to_details: withExtraKey(order.wallet_to_details) }),
  },
  ...(
    [
      ['ascii', 'in ASCII', inAscii],
      ['lost', 'with ? for every other letter than ASCII', (name: string) => name.replace(/[^\0-\x7f]/g, '?')],
      ['cut', 'in ASCII, cut to 12 characters', (name: string) => inAscii(name).slice(0, 12)],
    ] as const
  ).map(([name, what, write]) => ({
    name: `echo-name-${name}`,
    what: `names in wallet_to_details ${what}`,
    change: (order: Fields) => withNames(order, write),
  })),
  {
    name: 'echo-fee-on-top',
    what: 'expected_amount_from with the commission of the deposit on top',
    change: withFeeOnTop,
  },
  ...(
    [
      ['upper', 'in capitals', (id: string) => id.toUpperCase()],
      ['cut', 'cut to 40 characters', (id: string) => id.slice(0, 40)],
      ['no-zeros', 'without leading zeros', (id: string) => id.replace(/^0+(?=\d+$)/, '')],
      ['escaped', 'with its colons escaped', (id: string) => id.replaceAll(':', '%3A')],
      ['other', 'of another order', (id: string) => `x${id}`],
    ] as const
  ).map(([name, what, write]) => ({
    name: `echo-id-${name}`,
    what: `user_order_id ${what}`,
    change: (order: Fields) => ({ ...order, user_order_id: ofText(order.user_order_id, write) }),
  })),
  { name: 'echo-rounded', what: 'expected amounts cut to one place less, which the precision says', change: rounded },
];
