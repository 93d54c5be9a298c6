import type Big from 'big.js';
import { type CurrencyPlan, MAX_CURRENCIES } from '../../../contract/batch/batch.js';
import type { FieldError } from '../../../contract/failures.js';
import { decimal, sum, toAmount } from '../../../contract/money.js';
import type { WithdrawRequest } from '../../../contract/order/request.js';
import type { Balances, Rates } from '../../../contract/service-objects.js';
import { rateEntryOf } from '../../../validation/rate-checks.js';
import { balanceEffect, feesOf, onTop } from '../../order/balances.js';

interface Total {
  rows: number;
  total: Big;
  fee: Big;
  feeOnTop: Big;
}

/**
 * Sums by currency what the rows of a batch take from the balance. Without rates, fees are unknown.
 */
export class BatchTotals {
  readonly #totals = new Map<string, Total>();

  constructor(private readonly rates: Rates | undefined) {}

  tooManyCurrencies({ currency }: WithdrawRequest): FieldError[] {
    if (this.#totals.has(currency) || this.#totals.size < MAX_CURRENCIES) return [];
    const reason = `${currency} is one currency too many: a batch has at most ${MAX_CURRENCIES}, so that its plan stays small; split the file`;
    return [{ field: 'order.currency', reason }];
  }

  add(order: WithdrawRequest): void {
    const zero = decimal('0');
    const known = this.#totals.get(order.currency) ?? { rows: 0, total: zero, fee: zero, feeOnTop: zero };
    const amount = decimal(order.amount);
    const entry = this.rates && rateEntryOf(this.rates, 'withdraw', order);
    const fees = entry ? feesOf(entry, { from: amount, to: amount }) : [];
    this.#totals.set(order.currency, {
      rows: known.rows + 1,
      total: known.total.plus(amount),
      fee: known.fee.plus(sum(fees.map(({ amount: fee }) => fee))),
      feeOnTop: known.feeOnTop.plus(onTop(fees)),
    });
  }

  /**
   * Returns the effect per currency in alphabetical order. A currency without a wallet has balance
   * 0.
   */
  plan(balances: Balances | undefined): CurrencyPlan[] {
    return [...this.#totals]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([currency, { rows, total, fee, feeOnTop }]) => ({
        currency,
        rows,
        total: toAmount(total),
        fee: this.rates ? toAmount(fee) : null,
        feeOnTop: this.rates ? toAmount(feeOnTop) : null,
        ...balanceEffect(balances, currency, total.plus(feeOnTop)),
      }));
  }
}
