import { maskWallet } from '../../../contract/masking.js';
import { decimal, toAmount } from '../../../contract/money.js';
import { targetOf, type WithdrawRequest } from '../../../contract/order/request.js';
import { canonicalWallet } from '../../../contract/wallets.js';
import { digestOf } from '../rows/reading.js';
import { looseForm } from './similar-ids.js';
import type { BatchWarnings } from './warnings.js';

/** Warns of an id that an earlier row has in another form, and of a repeated payout. */
export function warnOfRepeats(warnings: BatchWarnings, line: number, order: WithdrawRequest): void {
  const sameId = 'these ids differ only by case or leading zeros, and each is paid: keep one if they are one payment';
  warnings.addIfSeen(keyOf(['id', looseForm(order.order_id)]), sameId, line);
  const { currency, network } = order;
  // Other details than cards may name one payee in two ways.
  const { wallet_details: details, ...target } = targetOf(order);
  const targets = Array.isArray(details) ? details : [order];
  for (const { wallet, amount: written } of targets) {
    const amount = toAmount(decimal(written));
    const payee = canonicalWallet(Array.isArray(details) ? 'card' : network, wallet);
    const key = keyOf({ ...target, currency, network, wallet: payee, amount });
    // Cards of one order may not repeat, so the other payout is always another line.
    warnings.addIfSeen(key, `${maskWallet(wallet)} gets ${amount} ${currency} more than once`, line);
  }
}

/** 48 bits: a rare mistake costs only a warning, and a part of a line would keep the line. */
const keyOf = (value: unknown): string => digestOf(value).slice(0, 12);
