import { maskWallet } from '../contract/masking.js';
import { passesLuhn, passesMod97, SEPA_IBAN_LENGTHS, UA_IBAN_LENGTHS } from '../contract/wallet-numbers.js';
import { MULTIPLE_CARDS } from '../contract/wallets.js';
import { ADDRESS_CHECKS } from './crypto-addresses.js';
import { textProblem } from './text-kinds.js';

/** Longest wallet accepted from a caller, in characters. */
export const MAX_WALLET_LENGTH = 200;

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

/** Networks whose wallets are no addresses. */
const ACCOUNTS: ReadonlyMap<string, (wallet: string) => string | undefined> = new Map([
  ['card', cardProblem],
  ['sepa', ibanProblem(SEPA_IBAN_LENGTHS)],
  ['bank_ua', ibanProblem(UA_IBAN_LENGTHS)],
]);

/** Address networks that take no `wallet_details`; what others take is the service's to say. */
const WITHOUT_DETAILS = new Set(['bitcoin', 'ethereum', 'tron']);

/** Payment links. Words that may also begin an address (kaspa:, bitcoincash:) are left out. */
const PAYMENT_LINK =
  /^(?:bitcoin|litecoin|dogecoin|dash|ethereum|tron|xrpl|xrp|ripple|monero|solana|ton|(?:web\+)?(?:stellar|cardano)):|:\/\/|\?/i;

const IS_LINK =
  'a payment link, not an address: write the address alone, and its tag or memo (?dt=, ?memo=) into wallet_memo';

const IBAN_LENGTHS = new Map([...SEPA_IBAN_LENGTHS, ...UA_IBAN_LENGTHS]);

/** What no address or account of any network is, known here or not. */
function anyProblem(wallet: string): string | undefined {
  if (IBAN_LENGTHS.get(wallet.slice(0, 2)) === wallet.length && /^[A-Z]{2}\d{2}[A-Z0-9]+$/.test(wallet)) {
    return passesMod97(wallet) ? undefined : 'reads as an IBAN, but its check digits are wrong';
  }
  return textProblem('code', wallet) ?? (PAYMENT_LINK.test(wallet) ? IS_LINK : undefined);
}

/** Returns true for networks that take no other details than those known here. */
export const hasKnownDetails = (network: string): boolean => ACCOUNTS.has(network) || WITHOUT_DETAILS.has(network);

/** What no wallet of any network can be, the wallet masked; undefined = nothing. */
export function walletProblem(network: string | undefined, wallet: string): string | undefined {
  if (wallet.trim() === '') return 'required';
  if (wallet.length > MAX_WALLET_LENGTH) return `longer than ${MAX_WALLET_LENGTH} characters`;
  // A payout to several cards names them in wallet_details; what the service wants in `wallet` is not documented.
  if (network === MULTIPLE_CARDS || !/[\p{C}\p{Z}]/u.test(wallet)) return undefined;
  return `${maskWallet(wallet)}: contains blanks or invisible characters`;
}

/**
 * Returns how a wallet breaks the format of its network, masked; undefined = it does not.
 * On a network that is not known here, only what no wallet can have is refused.
 */
export function walletFormatProblem(network: string | undefined, wallet: string): string | undefined {
  if (network === MULTIPLE_CARDS || walletProblem(network, wallet)) return undefined;
  const known = network ?? '';
  const problem = ACCOUNTS.has(known)
    ? ACCOUNTS.get(known)?.(wallet)
    : (anyProblem(wallet) ?? ADDRESS_CHECKS.get(known)?.(wallet));
  return problem && `${maskWallet(wallet)}: ${problem}`;
}
