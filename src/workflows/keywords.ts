import { holdsWallet } from '../contract/wallets.js';

/** Unchecked amounts are shown only in this form. */
const AMOUNT_SHOWN =
  /^(?:\d{1,24}(?:\.\d{1,24})? )?[A-Za-z0-9_]{1,20}(?: → (?:\d{1,24}(?:\.\d{1,24})? )?[A-Za-z0-9_]{1,20})?$/;

export const isShownAmount = (amount: string | undefined): amount is string =>
  amount !== undefined && AMOUNT_SHOWN.test(amount) && !holdsWallet(amount);

/** Excludes whatever may be a card number or a wallet, valid or not. */
const KEYWORD_FORMAT = /^(?!.*(?:\d[-._:/#]*){12})(?!.*\w{26})[A-Za-z0-9._:/#-]{1,120}$/;

/** Returns true for texts that Temporal accepts as a search attribute and everybody may read. */
export const isKeyword = (value: unknown, format = KEYWORD_FORMAT): value is string =>
  typeof value === 'string' && format.test(value) && !holdsWallet(value);
