import { holdsNumber, maskWallet, replaceNumbers } from './masking.js';

/** Network of a payout to several cards, which are listed in `wallet_details`. */
export const MULTIPLE_CARDS = 'multiple_cards';

export const MAX_CARDS = 100;

/** Cards and IBANs are printed in groups. */
const withoutGroups = (text: string): string => text.replace(/[\s\p{Pd}]/gu, '');

/** Hex addresses mean the same in any case: the case is only a checksum. */
const HEX = /^0x[0-9a-f]+$/i;
/** QR codes carry bech32 in capitals; mixed case is no address. */
const BECH32 = /^(?:(?:bc|tb|bcrt)1[0-9a-z]+|(?:BC|TB|BCRT)1[0-9A-Z]+)$/;

/** Returns true for a network whose wallet is an IBAN, which alone says who is paid. */
export const isIbanNetwork = (network: string | null | undefined): boolean =>
  network === 'sepa' || network === 'bank_ua';

/** Another text, perhaps masked in part, written as the one form of `wallet` is. */
export function writtenLike(network: string | null | undefined, wallet: string, shown: string): string {
  if (network === 'card') return withoutGroups(shown);
  if (isIbanNetwork(network)) return withoutGroups(shown).toUpperCase();
  const anyCase = HEX.test(wallet) || (network === 'bitcoin' && BECH32.test(wallet));
  return anyCase ? shown.toLowerCase() : shown;
}

/** Returns THE one form of a wallet on its network, by which wallets are compared everywhere. */
export const canonicalWallet = (network: string | null | undefined, wallet: string): string =>
  writtenLike(network, wallet, wallet);

/** Returns true for a name with a card number or IBAN. Dates, hashes and made-up ids are none. */
export function holdsWallet(name: string): boolean {
  const plain = plainOf(name);
  return replaceNumbers(plain, () => '', 'asPrinted') !== plain || holdsDisguised(plain);
}

/** Reason for refusing a name that `holdsWallet`: names are stored and logged unencrypted. */
export const NO_WALLET =
  'must not hold a card number or IBAN, nor look like one; a number that does so by chance passes with a letter right before it';

const FOREIGN_DIGIT = /(?![0-9])\p{Nd}/gu;

/** Blocks of ten digits begin at ...0 or ...6. */
function digitOf(digit: string): string {
  const at = digit.codePointAt(0) ?? 0;
  const beginsAtZero = /\p{Nd}/u.test(String.fromCodePoint(at & ~15));
  return String((at & 15) - (beginsAtZero ? 0 : 6));
}

/** Returns a text with the usual digits and letters, such as `@` for its full-width form. */
const plainOf = (text: string): string => text.normalize('NFKC').replace(FOREIGN_DIGIT, digitOf);

/** Letters between all groups of a number, and letters before an IBAN. */
const SAME_LETTERS = /(?<![A-Za-z0-9])\d+([A-Za-z]{1,3})\d+(?:\1\d+)+(?![A-Za-z0-9])/g;
const GLUED_IBAN = /(?<![A-Za-z0-9])([A-Za-z]{1,20})(?=[A-Za-z]{2}\d{2})/g;

/** UUIDs look like card numbers by chance, with a letter between two groups of digits. */
const UUID = /(?<![A-Za-z0-9])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![A-Za-z0-9])/gi;

/** IBAN with one gap, behind its check digits. Excludes ends of UUIDs. */
const LONE_GAP = /(?<![A-Za-z0-9])([A-Za-z]{2}\d{2})[\W_]{1,3}(?=(?:\d{12}|[A-Za-z0-9]{13,30})(?![A-Za-z0-9]))/g;

const withoutLetters = (text: string): string =>
  text
    .replace(UUID, '')
    .replace(SAME_LETTERS, (run, letters: string) => run.replaceAll(letters, '-'))
    .replace(GLUED_IBAN, '$1 ')
    .replace(LONE_GAP, '$1');

const maskPlain = (text: string): string =>
  replaceNumbers(text, maskWallet, 'asPrinted').replace(/[^\s@"'<>]{1,64}@[^\s@"'<>]+\.[^\s@"'<>.]+/g, '****');

/** Masks card numbers, IBANs and e-mails: an id may be one, and failures are stored and logged. */
export function maskWallets(text: string): string {
  const plain = plainOf(text);
  const shown = maskPlain(plain).replace(/\S+/g, (word) => (holdsDisguised(word) ? '****' : word));
  return shown === plain ? text : shown;
}

/** Returns true for a name with a number that letters or a lone separator disguise. */
function holdsDisguised(word: string): boolean {
  const bare = withoutLetters(word);
  return bare !== word && maskPlain(bare) !== bare;
}

/** Returns true for a text with a card number, IBAN or e-mail, or that `maskWallets` changes. */
export const holdsPrivate = (text: string): boolean => holdsNumber(plainOf(text)) || maskWallets(text) !== text;
