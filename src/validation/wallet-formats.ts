import { maskWallet } from '../contract/masking.js';
import { passesLuhn, passesMod97, SEPA_IBAN_LENGTHS, UA_IBAN_LENGTHS } from '../contract/wallet-numbers.js';
import { canonicalWallet, MULTIPLE_CARDS } from '../contract/wallets.js';

/** Longest wallet accepted from a caller, in characters. */
export const MAX_WALLET_LENGTH = 200;

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
