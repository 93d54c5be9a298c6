import { createHash } from 'node:crypto';
import { sha256 } from '@noble/hashes/sha2.js';
import { base58check, bech32 } from '@scure/base';
import { passesLuhn, passesMod97 } from '../src/contract/masking.js';

/** Makes a value out of a key: the same again for the same key, another one for every other. */
type Make = (key: string) => string;

const DIGITS = '0123456789';
const HEX = '0123456789abcdef';
const LETTERS = 'abcdefghijkmnopqrstuvwxyz';

/** `count` characters of an alphabet, at most 64. */
function drawn(key: string, alphabet: string, count: number): string {
  const bytes = createHash('sha512').update(key).digest();
  return Array.from(bytes.subarray(0, count), (byte) => alphabet[byte % alphabet.length]).join('');
}

/** The first of the candidates that fits its check digits. */
function firstFitting(candidates: readonly string[], fits: (candidate: string) => boolean): string {
  const found = candidates.find(fits);
  if (found === undefined) throw new RangeError('no check digit fits');
  return found;
}

const card =
  (prefix: string, length: number): Make =>
  (key) => {
    const digits = `${prefix}${drawn(key, DIGITS, length - prefix.length - 1)}`;
    return firstFitting(
      Array.from(DIGITS, (last) => digits + last),
      passesLuhn,
    );
  };

const iban =
  (country: string, digits: number): Make =>
  (key) =>
    firstFitting(
      Array.from(
        { length: 97 },
        (_, check) => `${country}${`${check + 2}`.padStart(2, '0')}${drawn(key, DIGITS, digits)}`,
      ),
      passesMod97,
    );

const hashOf = (key: string): Uint8Array => createHash('sha512').update(key).digest().subarray(0, 20);

/** A base58check address of this version byte. */
const base58Address =
  (version: number): Make =>
  (key) =>
    base58check(sha256).encode(Uint8Array.of(version, ...hashOf(key)));

const witnessAddress: Make = (key) => bech32.encode('bc', [0, ...bech32.toWords(hashOf(key))]);

/** As it is printed: in groups of four. */
const inGroups =
  (make: Make, separator: string): Make =>
  (key) =>
    (make(key).match(/.{1,4}/g) ?? []).join(separator);

const prefixed =
  (prefix: string, alphabet: string, count: number, suffix = ''): Make =>
  (key) =>
    `${prefix}${drawn(key, alphabet, count)}${suffix}`;

const groupsOfHex: Make = (key) => `2001:db8:${(drawn(key, 'abcdef', 24).match(/.{4}/g) ?? []).join(':')}`;

/** Kinds of personal data that orders, batches and people's decisions carry, and how a value of each is made. */
const MAKERS = {
  'a Visa number': card('4', 16),
  'a Mastercard number': card('52', 16),
  'an American Express number': card('37', 15),
  'a Discover number': card('6011', 16),
  'a JCB number': card('3528', 16),
  'a UnionPay number': card('62', 19),
  'a Maestro number': card('5018', 18),
  'a card number with blanks': inGroups(card('4', 16), ' '),
  'a card number with hyphens': inGroups(card('5', 16), '-'),
  'a German IBAN': iban('DE', 18),
  'a French IBAN': iban('FR', 23),
  'a Ukrainian IBAN': iban('UA', 25),
  'an IBAN with blanks': inGroups(iban('DE', 18), ' '),
  'a Tron address': base58Address(0x41),
  'an Ethereum address': prefixed('0x', HEX, 40),
  'a Bitcoin address': witnessAddress,
  'an old Bitcoin address': base58Address(0x00),
  'a wallet memo': prefixed('memo ', DIGITS, 12),
  'an account number': prefixed('9', DIGITS, 13),
  'a bank code': prefixed('', LETTERS.toUpperCase(), 11),
  'a bank name': prefixed('Privat & Söhne ', LETTERS, 10),
  "a payee's name": prefixed('Olena ', LETTERS, 12),
  'a name with accents and quotes': prefixed('Zoë "', LETTERS, 12, '" O’Brien'),
  "a payee's e-mail": prefixed('', LETTERS, 12, '@payee.example'),
  'a tax number': prefixed('9', DIGITS, 9),
  "a client's id": prefixed('client/', LETTERS, 14),
  "a client's IP address": groupsOfHex,
  "a client's e-mail": prefixed('', LETTERS, 12, '+news@client.example'),
  'words of a description': prefixed('a ring for ', LETTERS, 12),
  'a phone number': prefixed('+49 151 ', DIGITS, 8),
  'a passport number': prefixed('passport C', DIGITS, 9),
  'a refund wallet': prefixed('0x', HEX, 40),
  'who decided': prefixed('olga ', LETTERS, 12),
  'why it was decided': prefixed('she said ', LETTERS, 12),
  'who started a batch': prefixed('anton ', LETTERS, 12),
  'who approved a batch': prefixed('berta ', LETTERS, 12),
  'a field of a forged callback': prefixed('', LETTERS, 14, '@forged.example'),
} as const satisfies Record<string, Make>;

/** A kind of canary: personal data of which every order has a value of its own. */
export type CanaryKind = keyof typeof MAKERS;

export const CANARY_KINDS = Object.keys(MAKERS) as readonly CanaryKind[];

/** The value that stands for this kind in one order: whoever finds it knows whose it is. */
export const canary = (kind: CanaryKind, orderId: string): string => MAKERS[kind](`${kind} of ${orderId}`);
