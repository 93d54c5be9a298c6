import type Big from 'big.js';
import { type CurrencyPlan, MAX_CURRENCIES } from '../../../contract/batch/batch.js';
import type { FieldError } from '../../../contract/failures.js';
import { decimal, decimalOrZero, toAmount } from '../../../contract/money.js';
import type { WithdrawRequest } from '../../../contract/order/request.js';
import type { Balances, RateEntry, Rates } from '../../../contract/service-objects.js';
import { rateEntryOf } from '../../../validation/rate-checks.js';
import { balanceIn, commission } from '../../order/balances.js';

/** Commissions are whole smallest units of the currency. */
const ROUND_UP = 3;

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
    const { fee, onTop } = entry ? feesOf(entry, amount) : { fee: zero, onTop: zero };
    this.#totals.set(order.currency, {
      rows: known.rows + 1,
      total: known.total.plus(amount),
      fee: known.fee.plus(fee),
      feeOnTop: known.feeOnTop.plus(onTop),
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

function balanceEffect(
  balances: Balances | undefined,
  currency: string,
  needed: Big,
): Pick<CurrencyPlan, 'balanceBefore' | 'balanceAfter' | 'shortfall'> {
  const known = balances && balanceIn(balances, currency);
  // An unread balance is unknown. A currency without a wallet has 0.
  if (!balances || (!known && Object.hasOwn(balances, currency))) return { balanceBefore: null, balanceAfter: null };
  const before = decimalOrZero(known?.amount);
  const after = before.minus(needed);
  return {
    balanceBefore: toAmount(before),
    balanceAfter: toAmount(after),
    ...(after.lt(0) && { shortfall: toAmount(after.times('-1')) }),
  };
}

/**
 * Returns the commissions of both sides of a payout. A payer other than the client counts as us.
 */
function feesOf(entry: RateEntry, amount: Big): { fee: Big; onTop: Big } {
  const { currency_to_precision: places } = entry;
  const rounded = (fee: Big) => (Number.isInteger(places) ? fee.round(places, ROUND_UP) : fee);
  const from = rounded(commission(entry, 'from', amount));
  const to = rounded(commission(entry, 'to', amount));
  const zero = decimal('0');
  const onTop = (payer: string | null, fee: Big) => (payer === 'client' ? zero : fee);
  const { fee_percent_from_payer: payerFrom, fee_percent_to_payer: payerTo } = entry;
  return { fee: from.plus(to), onTop: onTop(payerFrom, from).plus(onTop(payerTo, to)) };
}
