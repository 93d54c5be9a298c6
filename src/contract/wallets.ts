import { holdsNumber, maskWallet, replaceNumbers } from './masking.js';

/** Network of a payout to several cards, which are listed in `wallet_details`. */
export const MULTIPLE_CARDS = 'multiple_cards';

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

/** Returns THE one form of a wallet on its network, by which wallets are compared everywhere. */
export const canonicalWallet = (network: string | null | undefined, wallet: string): string =>
  writtenLike(network, wallet, wallet);

/** Returns true for a name that holds a card number or an IBAN. Dates, hashes and most numbers that other programs make up are none. */
export const holdsWallet = (name: string): boolean => replaceNumbers(name, () => '', 'asPrinted') !== name;

/** Reason for refusing a name that `holdsWallet`: names are stored and logged unencrypted. */
export const NO_WALLET =
  'must not hold a card number or IBAN, nor look like one; a number that does so by chance passes with a letter right before it';

/** A text with card numbers, IBANs and e-mails in it masked: an id may be one, and failures are stored and logged. */
export const maskWallets = (text: string): string =>
  replaceNumbers(text, maskWallet, 'asPrinted').replace(/[^\s@"'<>]{1,64}@[^\s@"'<>]+\.[^\s@"'<>.]+/g, '****');

/** Returns true for a text with a card number, IBAN or e-mail, or that `maskWallets` changes. */
export const holdsPrivate = (text: string): boolean => holdsNumber(text) || maskWallets(text) !== text;
