import type { FieldError } from '../../../contract/failures.js';
import { MAX_ORDER_ID_LENGTH } from '../../../contract/ids.js';
import { maskWallet } from '../../../contract/masking.js';
import { decimal, toAmount } from '../../../contract/money.js';
import type { WithdrawRequest } from '../../../contract/order/request.js';
import { canonicalWallet } from '../../../contract/wallets.js';
import { digestOf } from './canonical-json.js';
import { LineIndex } from './line-index.js';
import type { BatchWarnings } from './warnings.js';

/** Finds rows that stand in a file twice, in little memory: a file may have a million. */
export class RepeatedRows {
  /** By order id; the word is a fingerprint of the content. */
  readonly #ids = new LineIndex();
  /** By 48 bits of wallet and amount: a rare mistake costs only a warning. */
  readonly #payouts = new LineIndex();
  readonly #warnings: BatchWarnings;

  constructor(warnings: BatchWarnings) {
    this.#warnings = warnings;
  }

  /** The error of an order id that an earlier line has, too. */
  duplicateId(line: number, orderId: unknown, order: unknown): FieldError[] {
    // Longer ones are refused anyway and would only fill the memory.
    if (typeof orderId !== 'string' || orderId.length > MAX_ORDER_ID_LENGTH) return [];
    const content = fingerprint(digestOf(order));
    const first = this.#ids.first(orderId, line, content);
    if (!first) return [];
    const how = first.word === content ? 'the same content' : 'other content';
    return [{ field: 'order.order_id', reason: `lines ${first.line} and ${line} have the same id, with ${how}` }];
  }

  /** Warns of a wallet that gets the same amount twice: more often a row entered twice than a wish. */
  noticePayouts(line: number, order: WithdrawRequest): void {
    const { currency, network, wallet_memo: memo, wallet_details: details } = order;
    const targets = Array.isArray(details) ? details : [order];
    for (const { wallet, amount: written } of targets) {
      const amount = toAmount(decimal(written));
      const payee = canonicalWallet(Array.isArray(details) ? 'card' : network, wallet);
      const key = digestOf([currency, network, payee, memo || null, amount]).slice(0, 12);
      const first = this.#payouts.first(key, line);
      // Cards of one order may not repeat, so the other payout is always another line.
      if (first) this.#warn(key, `${maskWallet(wallet)} gets ${amount} ${currency} more than once`, first.line, line);
    }
  }

  #warn(key: string, reason: string, first: number, line: number): void {
    this.#warnings.add(key, reason, this.#warnings.has(key) ? [line] : [first, line]);
  }
}

/** 32 bits of a digest: a rare mistake costs only a wrong word. */
const fingerprint = (digest: string): number => Number.parseInt(digest.slice(0, 8), 16);
