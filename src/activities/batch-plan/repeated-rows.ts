import { hash } from 'node:crypto';
import type { FieldError } from '../../contract/failures.js';
import { maskWallet } from '../../contract/masking.js';
import { decimal, toAmount } from '../../contract/money.js';
import type { WithdrawRequest } from '../../contract/orders.js';
import { digestOf } from './canonical-json.js';
import type { BatchWarnings } from './warnings.js';

const MAX_ID_LENGTH = 120;

/** Contents are told apart by 32 bits, so that they fit into one number together with the line. */
const CONTENTS = 2 ** 32;

/** Finds rows that stand in a file twice. Keeps about a hundred bytes of each row, which may be one of a million. */
export class RepeatedRows {
  /** By hash of the order id: line × 2³² + fingerprint of the content. */
  readonly #ids = new Map<string, number>();
  /** Line by fingerprint of wallet and amount. */
  readonly #payouts = new Map<number, number>();
  readonly #warnings: BatchWarnings;

  constructor(warnings: BatchWarnings) {
    this.#warnings = warnings;
  }

  /** The error of an order id that an earlier line has, too. */
  duplicateId(line: number, orderId: unknown, order: unknown): FieldError[] {
    // Longer ones are refused anyway and would only fill the memory.
    if (typeof orderId !== 'string' || orderId.length > MAX_ID_LENGTH) return [];
    const key = shortHash(orderId);
    const content = fingerprint(order, 32);
    const first = this.#ids.get(key);
    if (first === undefined) this.#ids.set(key, line * CONTENTS + content);
    if (first === undefined) return [];
    const how = first % CONTENTS === content ? 'the same content' : 'other content';
    const firstLine = Math.floor(first / CONTENTS);
    return [{ field: 'order.order_id', reason: `lines ${firstLine} and ${line} have the same id, with ${how}` }];
  }

  /** Warns of a wallet that gets the same amount twice: more often a row entered twice than a wish. */
  noticePayouts(line: number, order: WithdrawRequest): void {
    const { currency, network, wallet_memo: memo, wallet_details: details } = order;
    const targets = Array.isArray(details) ? details : [order];
    for (const { wallet, amount: written } of targets) {
      const amount = toAmount(decimal(written));
      const key = fingerprint([currency, network, wallet, memo || null, amount], 48);
      const first = this.#payouts.get(key);
      if (first === undefined) this.#payouts.set(key, line);
      // Cards of one order may not repeat, so the other payout is always another line.
      else this.#warn(key, `${maskWallet(wallet)} gets ${amount} ${currency} more than once`, first, line);
    }
  }

  #warn(key: number, reason: string, first: number, line: number): void {
    this.#warnings.add(key, reason, this.#warnings.has(key) ? [line] : [first, line]);
  }
}

/** 128 bits as a string of its own: a piece of the row's text would keep the whole text in memory. */
const shortHash = (text: string): string => hash('sha256', text, 'buffer').toString('latin1', 0, 16);

/** The first bits of a value's hash, at most 48: little memory, where a rare mistake costs only a wrong word. */
const fingerprint = (value: unknown, bits: 32 | 48): number => Number.parseInt(digestOf(value).slice(0, bits / 4), 16);
