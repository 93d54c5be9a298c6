import { hash } from 'node:crypto';
import type { FieldError } from '../../../contract/failures.js';
import { maskWallet } from '../../../contract/masking.js';
import { decimal, toAmount } from '../../../contract/money.js';
import { targetOf, type WithdrawRequest } from '../../../contract/order/request.js';
import { canonicalWallet } from '../../../contract/wallets.js';
import { looseForm } from './similar-ids.js';
import type { BatchWarnings } from './warnings.js';

/** The line that an order id stood on first, and a fingerprint of what it says. */
interface FirstLine {
  line: number;
  content: number;
}

/** Finds rows that stand in a file twice. Keys are digests: a part of a line would keep the whole line in memory. */
export class RepeatedRows {
  readonly #ids = new Map<string, FirstLine>();
  /** The first line of each payout and of each loose form of an id, by 48 bits: a rare mistake costs only a warning. */
  readonly #first = new Map<string, number>();

  constructor(private readonly warnings: BatchWarnings) {}

  /** The error of an order id that an earlier line has, too. */
  duplicateId(line: number, order: WithdrawRequest): FieldError[] {
    const id = hash('sha256', order.order_id, 'buffer').toString('latin1');
    const content = fingerprint(digestOf(order));
    const first = this.#ids.get(id);
    if (!first) {
      this.#ids.set(id, { line, content });
      return [];
    }
    const how = first.content === content ? 'the same content' : 'other content';
    return [{ field: 'order.order_id', reason: `lines ${first.line} and ${line} have the same id, with ${how}` }];
  }

  /** Warns of ids that differ only in ways in which exports of one list differ. */
  noticeId(line: number, { order_id: id }: WithdrawRequest): void {
    const reason = 'these ids differ only by case or leading zeros, and each is paid: keep one if they are one payment';
    this.#warnIfSeen(`id ${digestOf(looseForm(id)).slice(0, 12)}`, line, reason);
  }

  /** Warns of a wallet that gets the same amount twice: more often a row entered twice than a wish. */
  noticePayouts(line: number, order: WithdrawRequest): void {
    const { currency, network } = order;
    // Other details than cards may name one payee in two ways.
    const { wallet_details: details, ...target } = targetOf(order);
    const targets = Array.isArray(details) ? details : [order];
    for (const { wallet, amount: written } of targets) {
      const amount = toAmount(decimal(written));
      const payee = canonicalWallet(Array.isArray(details) ? 'card' : network, wallet);
      const key = digestOf({ ...target, currency, network, wallet: payee, amount }).slice(0, 12);
      // Cards of one order may not repeat, so the other payout is always another line.
      this.#warnIfSeen(key, line, `${maskWallet(wallet)} gets ${amount} ${currency} more than once`);
    }
  }

  #warnIfSeen(key: string, line: number, reason: string): void {
    const first = this.#first.get(key);
    if (first === undefined) this.#first.set(key, line);
    else this.warnings.add(key, reason, line, first);
  }
}

/** 28 bits of a digest: a rare mistake costs only a wrong word. */
const fingerprint = (digest: string): number => Number.parseInt(digest.slice(0, 7), 16);

/** Hash (hex sha256) of a value's JSON with sorted keys and without absent fields: equal values have equal hashes. */
export function digestOf(value: unknown): string {
  const sorted = JSON.stringify(value, (_key, child: unknown) =>
    typeof child === 'object' && child !== null && !Array.isArray(child)
      ? Object.fromEntries(Object.entries(child).sort(([a], [b]) => (a < b ? -1 : 1)))
      : child,
  );
  return hash('sha256', sorted);
}
