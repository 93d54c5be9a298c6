/** Ways of writing wallets that mean the same. 'exact': every character counts, or the network is not known. */
type Spelling = 'card' | 'iban' | 'hex' | 'bech32' | 'exact';

/** Cards and IBANs are printed in groups. */
const withoutGroups = (text: string): string => text.replace(/[\s\p{Pd}]/gu, '');

const WRITTEN: Record<Spelling, (text: string) => string> = {
  card: withoutGroups,
  iban: (text) => withoutGroups(text).toUpperCase(),
  hex: (text) => text.toLowerCase(),
  bech32: (text) => text.toLowerCase(),
  exact: (text) => text,
};

/** Hex addresses mean the same in any case on every network: the case is only a checksum. */
const HEX = /^0x[0-9a-f]+$/i;
/** QR codes carry bech32 in capitals; mixed case is no address. */
const BECH32 = /^(?:(?:bc|tb|bcrt)1[0-9a-z]+|(?:BC|TB|BCRT)1[0-9A-Z]+)$/;

/** How wallets like this one may be written on its network. */
function spellingOf(network: string | null | undefined, wallet: string): Spelling {
  if (network === 'card') return 'card';
  if (network === 'sepa' || network === 'bank_ua') return 'iban';
  if (HEX.test(wallet)) return 'hex';
  return network === 'bitcoin' && BECH32.test(wallet) ? 'bech32' : 'exact';
}

/**
 * THE one form of a wallet on its network, by which wallets are compared wherever they are: cards and IBANs without blanks
 * and dashes, IBANs in capitals, hex addresses and bech32 in lower case. Base58 and unknown networks: untouched.
 */
export const canonicalWallet = (network: string | null | undefined, wallet: string): string =>
  WRITTEN[spellingOf(network, wallet)](wallet);

/** Another text, perhaps masked in part, written as the one form of `wallet` is. */
export const writtenLike = (network: string | null | undefined, wallet: string, shown: string): string =>
  WRITTEN[spellingOf(network, wallet)](shown);
