import { maskWallet } from './masking.js';

/** Network of a payout to several cards, which are listed in `wallet_details`. */
export const MULTIPLE_CARDS = 'multiple_cards';

/** Most cards one order may pay to. */
export const MAX_CARDS = 100;

/** Cards and IBANs are printed in groups. */
const withoutGroups = (text: string): string => text.replace(/[\s\p{Pd}]/gu, '');

/** Hex addresses mean the same in any case on every network: the case is only a checksum. */
const HEX = /^0x[0-9a-f]+$/i;
/** QR codes carry bech32 in capitals; mixed case is no address. */
const BECH32 = /^(?:(?:bc|tb|bcrt)1[0-9a-z]+|(?:BC|TB|BCRT)1[0-9A-Z]+)$/;

/** Another text, perhaps masked in part, written as the one form of `wallet` is. */
export function writtenLike(network: string | null | undefined, wallet: string, shown: string): string {
  if (network === 'card') return withoutGroups(shown);
  if (network === 'sepa' || network === 'bank_ua') return withoutGroups(shown).toUpperCase();
  const anyCase = HEX.test(wallet) || (network === 'bitcoin' && BECH32.test(wallet));
  return anyCase ? shown.toLowerCase() : shown;
}

/**
 * THE one form of a wallet on its network, by which wallets are compared wherever they are: cards and IBANs without blanks
 * and dashes, IBANs in capitals, hex addresses and bech32 in lower case. Base58 and unknown networks: untouched.
 */
export const canonicalWallet = (network: string | null | undefined, wallet: string): string =>
  writtenLike(network, wallet, wallet);

/** True when the last digit of a card number fits the others (Luhn). */
export function passesLuhn(digits: string): boolean {
  const total = [...digits].reverse().reduce((sum, digit, index) => {
    const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
    return sum + (value > 9 ? value - 9 : value);
  }, 0);
  return total % 10 === 0;
}

/** Digits on their own, or in groups as on a card, that begin as cards do: times begin with a 1 or the century. */
const CARD_IN_NAME =
  /(?<![A-Za-z0-9])(?=2[2-7]|[3-6])(?:\d{13,19}|(?:\d{4}-){3}\d{4}|\d{4}-\d{6}-\d{5})(?![A-Za-z0-9])/g;

/** True for a name that holds a card number. Dates, hashes and most numbers that other programs make up are none. */
export const holdsCardNumber = (name: string): boolean =>
  (name.match(CARD_IN_NAME) ?? []).some((digits) => passesLuhn(digits.replaceAll('-', '')));

/** A text with the card numbers in it masked: an order id may be one, and failures are stored and logged. */
export const maskCards = (text: string): string =>
  text.replace(CARD_IN_NAME, (digits) => (passesLuhn(digits.replaceAll('-', '')) ? maskWallet(digits) : digits));
