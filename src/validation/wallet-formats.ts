import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { type BytesCoder, base58, base58xrp, bech32, bech32m } from '@scure/base';
import { maskWallet, passesLuhn, passesMod97, SEPA_IBAN_LENGTHS, UA_IBAN_LENGTHS } from '../contract/masking.js';
import { MULTIPLE_CARDS } from '../contract/wallets.js';
import { textProblem } from './text-kinds.js';

/** Returns how an address violates its network's rules; undefined if it does not. */
type AddressCheck = (address: string) => string | undefined;

const notOfNetwork = (expected: string): string => `not an address of this network: expected ${expected}`;

const WRONG_CHECKSUM =
  'not an address: its checksum is wrong, so a character is mistyped or missing. Copy the address from the payee again';

const BURNED = 'nobody holds the key of this address: what is paid there is lost. Ask the payee for their own address';

/** Unspendable addresses that `isBurned` does not recognise. */
const BURN_ADDRESSES = new Set([
  '1BitcoinEaterAddressDontSendf59kuE',
  '1CounterpartyXXXXXXXXXXXXXXXUWLpVr',
  '0xdead000000000000000042069420694206942069',
  'TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy',
]);

/** Returns true for leading zeros or one repeated byte, which no key's hash has. */
const isBurned = (hash: Uint8Array): boolean =>
  hash.subarray(0, hash.length - 8).every((byte) => byte === 0) || hash.every((byte) => byte === hash[0]);

type Lengths = Readonly<Record<number, number>>;
const HASH_LENGTH = 21;
const versions = (...bytes: number[]): Lengths => Object.fromEntries(bytes.map((byte) => [byte, HASH_LENGTH]));

/** Returns the checksum that ends base58 addresses. */
export const checksumOf = (payload: Uint8Array): Uint8Array => sha256(sha256(payload)).subarray(0, 4);

function bytesOf(coder: BytesCoder, text: string): Uint8Array | undefined {
  try {
    return coder.decode(text);
  } catch {
    return undefined;
  }
}

function base58Check(coder: BytesCoder, lengths: Lengths, expected: string): AddressCheck {
  return (address) => {
    const bytes = bytesOf(coder, address);
    if (!bytes || bytes.length < HASH_LENGTH + 4) return notOfNetwork(expected);
    const payload = bytes.subarray(0, -4);
    const checksum = checksumOf(payload);
    if (!bytes.subarray(-4).every((byte, index) => byte === checksum[index])) return WRONG_CHECKSUM;
    if (lengths[payload[0] ?? 0] !== payload.length) return notOfNetwork(expected);
    const burned = payload.length === HASH_LENGTH && isBurned(payload.subarray(1));
    return burned || BURN_ADDRESSES.has(address) ? BURNED : undefined;
  };
}

/** Checks a witness address (BIP-173, BIP-350) with one of these prefixes. */
function segwitCheck(prefixes: readonly string[], expected: string): AddressCheck {
  return (address) => {
    const data = address.lastIndexOf('1') + 1;
    if (!prefixes.includes(address.slice(0, Math.max(0, data - 1)).toLowerCase())) return notOfNetwork(expected);
    // The first character is the version: 0 uses the older checksum, others the newer one.
    const found = (/^q/i.test(address.slice(data)) ? bech32 : bech32m).decodeUnsafe(address);
    const program = found && bech32.fromWordsUnsafe(found.words.slice(1));
    if (!program) return WRONG_CHECKSUM;
    const version = found.words[0];
    if (version !== 0 && version !== 1)
      return 'an address of a version that no wallet uses: anybody could take the money';
    if (program.length !== 32 && (version !== 0 || program.length !== 20)) return notOfNetwork(expected);
    return isBurned(program) ? BURNED : undefined;
  };
}

const CASH_CHARACTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const CHECKSUM_PLACES = [7, 6, 5, 4, 3, 2, 1, 0];
const CASH_GENERATOR = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n];

/** Returns prefix and words of a Bitcoin Cash address (CashAddr specification), unchecked. */
export function cashParts(address: string): { prefix: string; words: number[] } {
  const [, prefix = 'bitcoincash', data = ''] = /^(?:(bitcoincash|bchtest):)?([a-z0-9]+)$/.exec(oneCase(address)) ?? [];
  return { prefix, words: [...data].map((character) => CASH_CHARACTERS.indexOf(character)) };
}

/** Returns the remainder of words with their checksum, which is 1 if the checksum is right. */
function cashRest(prefix: string, words: readonly number[]): bigint {
  const prefixWords = [...prefix].map((character) => character.charCodeAt(0) & 31);
  return [...prefixWords, 0, ...words].reduce((sum, word) => {
    const top = sum >> 35n;
    const shifted = ((sum & 0x07ffffffffn) << 5n) ^ BigInt(word);
    return CASH_GENERATOR.reduce((all, term, bit) => ((top >> BigInt(bit)) & 1n ? all ^ term : all), shifted);
  }, 1n);
}

/** Returns the Bitcoin Cash address of words that have no checksum. */
export function cashAddress(prefix: string, words: readonly number[]): string {
  const rest = cashRest(prefix, [...words, ...CHECKSUM_PLACES.map(() => 0)]) ^ 1n;
  const checksum = CHECKSUM_PLACES.map((place) => Number((rest >> BigInt(5 * place)) & 31n));
  return `${prefix}:${[...words, ...checksum].map((word) => CASH_CHARACTERS[word]).join('')}`;
}

function cashCheck(address: string): string | undefined {
  const { prefix, words } = cashParts(address);
  if (words.length < 42 || words.includes(-1)) return notOfNetwork('1…, 3… or bitcoincash:…');
  return cashRest(prefix, words) === 1n ? undefined : WRONG_CHECKSUM;
}

const oneCase = (text: string): string => (text === text.toUpperCase() ? text.toLowerCase() : text);

/** Checks a hex address: length, and the EIP-55 checksum if its case is mixed. */
function evmCheck(address: string): string | undefined {
  const digits = /^0x([0-9a-fA-F]{40})$/.exec(address)?.[1];
  if (!digits) return notOfNetwork('0x and 40 hex digits');
  const lower = digits.toLowerCase();
  if (isBurned(Buffer.from(lower, 'hex')) || BURN_ADDRESSES.has(`0x${lower}`)) return BURNED;
  if (digits === lower || digits === digits.toUpperCase()) return undefined;
  const hash = Buffer.from(keccak_256(Buffer.from(lower))).toString('hex');
  const written = [...lower].map((digit, index) =>
    Number.parseInt(hash[index] ?? '', 16) >= 8 ? digit.toUpperCase() : digit,
  );
  return written.join('') === digits ? undefined : WRONG_CHECKSUM;
}

const either =
  (isFirst: RegExp, first: AddressCheck, second: AddressCheck): AddressCheck =>
  (address) =>
    isFirst.test(address) ? first(address) : second(address);

// Accepts test networks, because the service knows which network it uses.
const BITCOIN = '1…, 3… or bc1…';
const bitcoinLegacy = base58Check(base58, versions(0x00, 0x05, 0x6f, 0xc4), BITCOIN);
const litecoinLegacy = base58Check(base58, versions(0x30, 0x32, 0x05, 0x6f, 0x3a, 0xc4), 'L…, M… or ltc1…');
const litecoinSegwit = segwitCheck(['ltc', 'tltc', 'rltc'], 'L…, M… or ltc1…');
const unchecked: AddressCheck = () => undefined;
const xrp = base58Check(base58xrp, { ...versions(0x00), 5: 31, 4: 31 }, 'r… or X…');
const XRP_NAMES = ['ripple', 'xrp'];
const EVM = ['ethereum', 'bsc', 'polygon', 'arbitrum', 'optimism', 'base'];

/** Address checks by network. Other networks are not guessed. */
export const ADDRESS_CHECKS: ReadonlyMap<string, AddressCheck> = new Map([
  ['bitcoin', either(/^(?:bc|tb|bcrt)1/i, segwitCheck(['bc', 'tb', 'bcrt'], BITCOIN), bitcoinLegacy)],
  // Private addresses (ltcmweb1…) have another form and pass unchecked.
  ['litecoin', either(/^t?ltcmweb1/, unchecked, either(/^(?:ltc|tltc|rltc)1/i, litecoinSegwit, litecoinLegacy))],
  ['dogecoin', base58Check(base58, versions(0x1e, 0x16, 0x71, 0xc4), 'D… or 9…')],
  ['dash', base58Check(base58, versions(0x4c, 0x10, 0x8c, 0x13), 'X… or 7…')],
  ...['bitcoin_cash', 'bitcoincash'].map((name) => [name, either(/^[13mn2]/, bitcoinLegacy, cashCheck)] as const),
  ...XRP_NAMES.map((name) => [name, xrp] as const),
  ['tron', base58Check(base58, versions(0x41), 'T and 33 base58 characters')],
  ...EVM.map((name) => [name, evmCheck] as const),
  // Addresses of its other chains have another form and pass unchecked.
  ['avalanche', either(/^[XPC]-/, unchecked, evmCheck)],
]);

const MAX_TAG = 0xffff_ffff;

/** Returns why a memo can be none of its network. Other networks are not guessed. */
export function memoProblem(network: string | undefined, memo: string): string | undefined {
  if (!XRP_NAMES.includes(network ?? '') || memo === '') return undefined;
  const isTag = /^\d+$/.test(memo) && Number(memo) <= MAX_TAG;
  return textProblem('code', memo) ?? (isTag ? undefined : NO_TAG);
}

const NO_TAG = `a tag of this network is a whole number from 0 to ${MAX_TAG}: with another tag somebody else is paid. Copy it from the payee again`;

const MAX_WALLET_LENGTH = 200;

function cardProblem(wallet: string): string | undefined {
  if (!/^\d+$/.test(wallet)) return 'a card number has digits only';
  if (wallet.length < 12 || wallet.length > 19) return 'a card number has 12 to 19 digits';
  return passesLuhn(wallet) && !wallet.startsWith('0') ? undefined : 'not a card number: its check digit is wrong';
}

const ibanProblem = (lengths: ReadonlyMap<string, number>) => (wallet: string) => {
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]+$/.test(wallet)) return 'an IBAN has capital letters and digits only';
  const length = lengths.get(wallet.slice(0, 2));
  if (length === undefined) return 'the IBAN is of a country this network does not reach';
  if (wallet.length !== length) return `an IBAN of this country has ${length} characters`;
  return passesMod97(wallet) ? undefined : 'not an IBAN: its check digits are wrong';
};

const ACCOUNTS: ReadonlyMap<string, (wallet: string) => string | undefined> = new Map([
  ['card', cardProblem],
  ['sepa', ibanProblem(SEPA_IBAN_LENGTHS)],
  ['bank_ua', ibanProblem(UA_IBAN_LENGTHS)],
]);

/** Networks that take no `wallet_details`. The service decides about others. */
const WITHOUT_DETAILS = new Set(['bitcoin', 'ethereum', 'tron']);

/** Payment links. Words that may start an address (kaspa:, bitcoincash:) are excluded. */
const PAYMENT_LINK =
  /^(?:bitcoin|litecoin|dogecoin|dash|ethereum|tron|xrpl|xrp|ripple|monero|solana|ton|(?:web\+)?(?:stellar|cardano)):|:\/\/|\?/i;

const IS_LINK =
  'a payment link, not an address: write the address alone, and its tag or memo (?dt=, ?memo=) into wallet_memo';

const IBAN_LENGTHS = new Map([...SEPA_IBAN_LENGTHS, ...UA_IBAN_LENGTHS]);

/** Returns why a text can be no wallet of any network. */
function anyProblem(wallet: string): string | undefined {
  if (IBAN_LENGTHS.get(wallet.slice(0, 2)) === wallet.length && /^[A-Z]{2}\d{2}[A-Z0-9]+$/.test(wallet)) {
    return passesMod97(wallet) ? undefined : 'reads as an IBAN, but its check digits are wrong';
  }
  return textProblem('code', wallet) ?? (PAYMENT_LINK.test(wallet) ? IS_LINK : undefined);
}

export const hasKnownDetails = (network: string): boolean => ACCOUNTS.has(network) || WITHOUT_DETAILS.has(network);

/** Returns why a text can be no wallet of a network, masked; undefined without a reason. */
export function walletProblem(network: string | undefined, wallet: string): string | undefined {
  if (wallet.trim() === '') return 'required';
  if (wallet.length > MAX_WALLET_LENGTH) return `longer than ${MAX_WALLET_LENGTH} characters`;
  // A payout to several cards names them in wallet_details; its `wallet` is undocumented.
  if (network === MULTIPLE_CARDS || !/[\p{C}\p{Z}]/u.test(wallet)) return undefined;
  return `${maskWallet(wallet)}: contains blanks or invisible characters`;
}

/**
 * Returns how a wallet violates its network's format, masked. On unknown networks, only impossible
 * wallets are refused.
 */
export function walletFormatProblem(network: string | undefined, wallet: string): string | undefined {
  if (network === MULTIPLE_CARDS || walletProblem(network, wallet)) return undefined;
  const known = network ?? '';
  const problem = ACCOUNTS.has(known)
    ? ACCOUNTS.get(known)?.(wallet)
    : (anyProblem(wallet) ?? ADDRESS_CHECKS.get(known)?.(wallet));
  return problem && `${maskWallet(wallet)}: ${problem}`;
}
