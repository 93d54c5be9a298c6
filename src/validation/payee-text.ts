import { base58, base58xrp, bech32, bech32m } from '@scure/base';
import { canonicalWallet } from '../contract/wallets.js';
import { ADDRESS_CHECKS, cashAddress, cashParts, checksumOf, hasKnownDetails } from './wallet-formats.js';

/** Networks that pay a wallet whatever the memo says. So are hex addresses paid. */
const WITHOUT_MEMO = new Set([
  ...['card', 'sepa', 'bank_ua', 'bitcoin', 'bitcoin_cash', 'bitcoincash', 'litecoin', 'dogecoin', 'dash', 'zcash'],
  ...['tron', 'solana', 'avalanche', 'cardano', 'polkadot', 'kaspa', 'tezos', 'near', 'monero'],
]);

type Form = (address: string) => string | undefined;

/** Returns what a base58 address holds before its checksum. */
const payloadOf = (coder: typeof base58, address: string): Uint8Array => coder.decode(address).subarray(0, -4);

const encoded = (coder: typeof base58, payload: readonly number[]): string =>
  coder.encode(Uint8Array.from([...payload, ...checksumOf(Uint8Array.from(payload))]));

/** First bytes of scripts that older litecoin wallets write, and of newer ones. */
const NEWER: Readonly<Record<number, number>> = { 5: 0x32, 196: 0x3a };

function litecoinForm(address: string): string | undefined {
  if (!/^[23]/.test(address)) return undefined;
  const [version = 0, ...hash] = payloadOf(base58, address);
  const newer = NEWER[version];
  return newer === undefined ? undefined : encoded(base58, [newer, ...hash]);
}

/** Version and prefix of CashAddr by the first byte of the older form. */
const CASH_VERSIONS: Readonly<Record<number, readonly [number, string]>> = {
  0: [0, 'bitcoincash'],
  5: [8, 'bitcoincash'],
  111: [0, 'bchtest'],
  196: [8, 'bchtest'],
};
/** Bit of an address that also takes tokens. It is the same key or script. */
const TAKES_TOKENS = 0x10;

function cashForm(address: string): string | undefined {
  if (/^[13mn2]/.test(address)) {
    const [first = -1, ...hash] = payloadOf(base58, address);
    const [version = 0, prefix] = CASH_VERSIONS[first] ?? [];
    return prefix && cashAddress(prefix, bech32.toWords(Uint8Array.from([version, ...hash])));
  }
  const { prefix, words } = cashParts(address);
  const [version, ...hash] = bech32.fromWordsUnsafe(words.slice(0, -8)) ?? [];
  if (version === undefined) return undefined;
  return cashAddress(prefix, bech32.toWords(Uint8Array.from([version & ~TAKES_TOKENS, ...hash])));
}

/** Returns the r… form of an X… address, with its tag. */
function xrpForm(address: string): string | undefined {
  const payload = payloadOf(base58xrp, address);
  if (payload.length !== 31) return undefined;
  const tag = payload[22] === 0 ? '' : `:${new DataView(payload.slice(23).buffer).getUint32(0, true)}`;
  return `${encoded(base58xrp, [0, ...payload.subarray(2, 22)])}${tag}`;
}

/** Returns the raw form `0:<hex>` of a TON address. */
function tonForm(address: string): string | undefined {
  if (/^-?\d+:[0-9a-f]{64}$/i.test(address)) return address.toLowerCase();
  if (!/^[\w+/-]{48}$/.test(address)) return undefined;
  const bytes = Buffer.from(address, 'base64');
  return `${bytes.readInt8(1)}:${bytes.toString('hex', 2, 34)}`;
}

const FORMS: ReadonlyMap<string, Form> = new Map([
  ['litecoin', litecoinForm],
  ...['bitcoin_cash', 'bitcoincash'].map((name) => [name, cashForm] as const),
  ...['ripple', 'xrp'].map((name) => [name, xrpForm] as const),
  ['ton', tonForm],
]);

/** Returns the lower case of bech32 in capitals, which QR codes carry on any network. */
const bech32Form: Form = (address) =>
  address === address.toUpperCase() && [bech32, bech32m].some((coder) => coder.decodeUnsafe(address, false))
    ? address.toLowerCase()
    : undefined;

/** Returns the one spelling of an address. What is no address of its network stays. */
function addressForm(network: string, wallet: string): string {
  const address = canonicalWallet(network, wallet);
  if (ADDRESS_CHECKS.get(network)?.(address)) return address;
  return bech32Form(address) ?? FORMS.get(network)?.(address) ?? address;
}

/** Returns the details that choose a payee. On a network that is not known here, all may do so. */
function choosingDetails(network: string, details: unknown): string[] {
  const all: Record<string, unknown> = Array.isArray(details) ? {} : Object(details);
  const names = hasKnownDetails(network) ? ['bank_code'] : Object.keys(all).sort();
  return names.flatMap((name) => (all[name] == null ? [] : [String(all[name])]));
}

/**
 * Returns the text that names a payee: `network:address`, with `:memo` where the network pays
 * several payees at one address, and with `:detail` where a detail such as the bank chooses one.
 */
export function payeeText(network: string, wallet: string, memo?: string | null, details?: unknown): string {
  const address = addressForm(network, wallet);
  const isApart = memo && !WITHOUT_MEMO.has(network) && !address.startsWith('0x');
  // A tag of the XRP ledger is a number.
  const tag = FORMS.get(network) === xrpForm ? memo?.trim().replace(/^0+(?=\d)/, '') : memo;
  const memos = isApart && !address.endsWith(`:${tag}`) ? [tag] : [];
  return [network, address, ...memos, ...choosingDetails(network, details)].join(':');
}
