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

/** IBAN lengths of SEPA countries (SWIFT registry): mod-97 alone lets one in 97 typing errors of length through. */
export const SEPA_IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  (
    'AD24 AL28 AT20 BE16 BG22 CH21 CY28 CZ24 DE22 DK18 EE20 ES24 FI18 FR27 GB22 GI23 GR27 HR21 HU28 IE22 IS26 IT27 ' +
    'LI21 LT20 LU20 LV21 MC27 MD24 ME22 MK19 MT31 NL18 NO15 PL28 PT25 RO24 RS22 SE24 SI19 SK24 SM27 VA22'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** The same of Ukraine, whose banks SEPA does not reach. */
export const UA_IBAN_LENGTHS: ReadonlyMap<string, number> = new Map([['UA', 29]]);

/** True when an IBAN's check digits fit (ISO 7064 mod 97-10). */
export function passesMod97(iban: string): boolean {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    // Base 36 maps A..Z to 10..35, as the standard does.
    for (const digit of Number.parseInt(character, 36).toString()) rest = (rest * 10 + Number(digit)) % 97;
  }
  return rest === 1;
}

/**
 * Digits on their own, or in groups as on a card, that begin as cards do: times begin with a 1 or the century. Digits right
 * behind a letter are none: hashes are full of them, and it is the way out for ids that look like a card by chance.
 */
const CARD =
  /(?<![A-Za-z0-9])(?=2[2-7]|[3-6])(?:\d{13,19}|\d{4}(?:[-_.: ]\d{4}){3}(?:[-_.: ]\d{1,3})?|\d{4}[-_.: ]\d{6}[-_.: ]\d{4,5})(?![A-Za-z0-9])/g;

/** In one piece or in groups of four, in any case: account names are written small. */
const IBAN =
  /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[A-Z0-9]{11,27}|(?:[-_.: ][A-Z0-9]{4}){2,6}(?:[-_.: ][A-Z0-9]{1,3})?)(?![A-Za-z0-9])/gi;

const bare = (text: string): string => text.replace(/[^A-Za-z0-9]/g, '').toUpperCase();

const isCard = (text: string): boolean => passesLuhn(bare(text));

function isIban(text: string): boolean {
  const iban = bare(text);
  const country = iban.slice(0, 2);
  const length = SEPA_IBAN_LENGTHS.get(country) ?? UA_IBAN_LENGTHS.get(country);
  return iban.length === length && passesMod97(iban);
}

/** True for a name that holds a card number or an IBAN. Dates, hashes and most numbers that other programs make up are none. */
export const holdsWallet = (name: string): boolean =>
  (name.match(CARD) ?? []).some(isCard) || (name.match(IBAN) ?? []).some(isIban);

/** What to say of a name that `holdsWallet`: ids and accounts are stored and logged in the clear. */
export const NO_WALLET =
  'must not hold a card number or IBAN, nor look like one; a number that does so by chance passes with a letter right before it';

/** A text with card numbers, IBANs and e-mails in it masked: an id may be one, and failures are stored and logged. */
export const maskWallets = (text: string): string =>
  text
    .replace(CARD, (found) => (isCard(found) ? maskWallet(found) : found))
    .replace(IBAN, (found) => (isIban(found) ? maskWallet(found) : found))
    .replace(/[^\s@"'<>]{1,64}@[^\s@"'<>]+\.[^\s@"'<>.]+/g, '****');
