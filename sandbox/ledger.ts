import { fakeHex } from './chance.js';
import { dateTime } from './clock.js';
import type { Movement } from './execution.js';
import { type Decimal, decimal, text, ZERO } from './money.js';
import { CURRENCIES } from './rates.js';
import type { BalanceChange } from './stored.js';

/** The balances every sandbox starts with, enough for 100,000 payouts; decimal strings. */
export const STARTING_BALANCES: Readonly<Record<string, string>> = {
  usd: '100000000',
  eur: '100000000',
  uah: '4000000000',
  btc: '10000',
  eth: '200000',
  usdt: '100000000',
  trx: '1000000000',
};

/** The merchant's balances. A negative one is a debt. */
export class Ledger {
  readonly #balances = new Map<string, { amount: Decimal; updatedAtMs: number }>();

  constructor(starting: Readonly<Record<string, string>>, nowMs: number) {
    for (const [currency, amount] of Object.entries({ ...STARTING_BALANCES, ...starting })) {
      this.set(currency, amount, nowMs);
    }
  }

  /** Sets one balance, as if money had moved outside of orders. */
  set(currency: string, amount: string, nowMs: number): void {
    this.#balances.set(currency, { amount: decimal(amount), updatedAtMs: nowMs });
  }

  /** The balance in a currency. */
  balance(currency: string): Decimal {
    return this.#balances.get(currency)?.amount ?? ZERO;
  }

  /** All balances as decimal strings. */
  all(): Record<string, string> {
    return Object.fromEntries([...this.#balances].map(([currency, { amount }]) => [currency, text(amount)]));
  }

  /** True when no balance would go below zero on the way. */
  covers(movements: readonly Movement[]): boolean {
    return this.changes(movements, 0).every(({ amount_after }) => decimal(amount_after).gte(0));
  }

  /** The changes that movements make, one after the other. Changes nothing itself: the journal comes first. */
  changes(movements: readonly Movement[], nowMs: number): BalanceChange[] {
    const running = new Map<string, Decimal>();
    return movements.map(({ currency, amount }) => {
      const before = running.get(currency) ?? this.balance(currency);
      const after = before.plus(amount);
      running.set(currency, after);
      return {
        currency,
        amount_before: text(before),
        amount_change: text(amount),
        amount_after: text(after),
        created_at: dateTime(nowMs),
      };
    });
  }

  /** The `data` of the balances operation. */
  data(walletKey: string): Record<string, unknown> {
    return Object.fromEntries(
      [...this.#balances].map(([currency, { amount, updatedAtMs }]) => [
        currency,
        {
          currency,
          wallet_uuid: walletUuid(`${walletKey} ${currency}`),
          amount: text(amount.lt(0) ? ZERO : amount),
          overdraft: text(amount.lt(0) ? amount.neg() : ZERO),
          updated_at: dateTime(updatedAtMs),
          currency_precision: CURRENCIES[currency]?.precision ?? 2,
        },
      ]),
    );
  }
}

/** Wallet identifiers stay the same for one key and currency, over restarts too. */
function walletUuid(key: string): string {
  const hex = fakeHex(`wallet ${key}`, 32);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
