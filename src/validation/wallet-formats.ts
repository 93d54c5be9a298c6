import { maskWallet } from '../contract/masking.js';
import { canonicalWallet, MULTIPLE_CARDS, passesLuhn } from '../contract/wallets.js';

/** Longest wallet accepted from a caller, in characters. */
export const MAX_WALLET_LENGTH = 200;

/** IBAN lengths of SEPA countries (SWIFT registry): mod-97 alone lets one in 97 typing errors of length through. */
const SEPA_IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  (
    'AD24 AL28 AT20 BE16 BG22 CH21 CY28 CZ24 DE22 DK18 EE20 ES24 FI18 FR27 GB22 GI23 GR27 HR21 HU28 IE22 IS26 IT27 ' +
    'LI21 LT20 LU20 LV21 MC27 MD24 ME22 MK19 MT31 NL18 NO15 PL28 PT25 RO24 RS22 SE24 SI19 SK24 SM27 VA22'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);
const UA_IBAN_LENGTHS: ReadonlyMap<string, number> = new Map([['UA', 29]]);

/** True when an IBAN's check digits fit (ISO 7064 mod 97-10). */
export function passesMod97(iban: string): boolean {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    // Base 36 maps A..Z to 10..35, as the standard does.
    for (const digit of Number.parseInt(character, 36).toString()) rest = (rest * 10 + Number(digit)) % 97;
  }
  return rest === 1;
}

function cardProblem(wallet: string): string | undefined {
  if (!/^\d+$/.test(wallet)) return 'a card number has digits only';
  if (wallet.length < 12 || wallet.length > 19) return 'a card number has 12 to 19 digits';
  return passesLuhn(wallet) ? undefined : 'not a card number: its check digit is wrong';
}

const ibanProblem = (lengths: ReadonlyMap<string, number>) => (wallet: string) => {
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]+$/.test(wallet)) return 'an IBAN has capital letters and digits only';
  const length = lengths.get(wallet.slice(0, 2));
  if (length === undefined) return 'the IBAN is of a country this network does not reach';
  if (wallet.length !== length) return `an IBAN of this country has ${length} characters`;
  return passesMod97(wallet) ? undefined : 'not an IBAN: its check digits are wrong';
};

const addressProblem = (format: RegExp, expected: string) => (wallet: string) =>
  format.test(wallet) ? undefined : `not an address of this network: expected ${expected}`;

const BASE58 = '[1-9A-HJ-NP-Za-km-z]';
const BECH32 = '[02-9ac-hj-np-z]';
// Test networks are accepted too: what belongs to the configured service is the service's to say.
const BITCOIN = new RegExp(`^(?:[13mn2]${BASE58}{25,34}|(?:bc|tb|bcrt)1(?:${BECH32}{39}|${BECH32}{59}))$`);

const bitcoinProblem = (wallet: string): string | undefined =>
  addressProblem(BITCOIN, '1…, 3… or bc1…')(canonicalWallet('bitcoin', wallet));

/** Networks whose wallet format is known; everywhere else only what no wallet can have is refused. */
const FORMATS: ReadonlyMap<string, (wallet: string) => string | undefined> = new Map([
  ['card', cardProblem],
  ['sepa', ibanProblem(SEPA_IBAN_LENGTHS)],
  ['bank_ua', ibanProblem(UA_IBAN_LENGTHS)],
  ['bitcoin', bitcoinProblem],
  ['ethereum', addressProblem(/^0x[0-9a-fA-F]{40}$/, '0x and 40 hex digits')],
  ['tron', addressProblem(new RegExp(`^T${BASE58}{33}$`), 'T and 33 base58 characters')],
]);

/** True for networks whose wallets have a format here. */
export const hasWalletFormat = (network: string): boolean => FORMATS.has(network);

/** What no wallet of any network can be, the wallet masked; undefined = nothing. */
export function walletProblem(network: string | undefined, wallet: string): string | undefined {
  if (wallet.trim() === '') return 'required';
  if (wallet.length > MAX_WALLET_LENGTH) return `longer than ${MAX_WALLET_LENGTH} characters`;
  // A payout to several cards names them in wallet_details; what the service wants in `wallet` is not documented.
  if (network === MULTIPLE_CARDS || !/[\p{C}\p{Z}]/u.test(wallet)) return undefined;
  return `${maskWallet(wallet)}: contains blanks or invisible characters`;
}

/** How a wallet breaks the format of its network, masked; undefined = it does not, or the network is not known here. */
export function walletFormatProblem(network: string | undefined, wallet: string): string | undefined {
  if (walletProblem(network, wallet)) return undefined;
  const problem = FORMATS.get(network ?? '')?.(wallet);
  return problem && `${maskWallet(wallet)}: ${problem}`;
}
