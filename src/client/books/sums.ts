import type Big from 'big.js';
import type { SumLine } from '../../contract/books/book.js';
import type { BookPeriod } from '../../contract/books/period.js';
import { decimal, toAmount } from '../../contract/money.js';
import {
  addChanges,
  endsOf,
  quietBalance,
  spelled,
  startsOf,
  trailsOf,
} from '../../contract/reconcile/balance-book.js';
import type { BalanceBook } from '../../contract/reconcile/days.js';
import { serviceTime, ZONE_SLACK_MS } from '../../contract/reconcile/input.js';
import type { BalanceChange, Balances } from '../../contract/service-objects.js';

/** Sums the balance changes of a period, and compares them with the balances around it. */
export class Sums {
  readonly #before: Record<string, BalanceBook> = {};
  readonly #within: Record<string, BalanceBook> = {};
  readonly #after: Record<string, BalanceBook> = {};
  readonly #totals = new Map<string, Big>();
  /** Currencies whose opening and closing may be several balances. */
  readonly unclear = new Set<string>();

  constructor(private readonly period: BookPeriod) {}

  /** Adds an order's balance changes, including those outside the period. */
  add(changes: readonly BalanceChange[]): void {
    const { fromMs, toMs } = this.period;
    const [from, to] = [serviceTime(fromMs), serviceTime(toMs)];
    // Earlier orders were not all read, so their last change might not be the last one.
    addChanges(this.#before, changes, { from: serviceTime(fromMs - ZONE_SLACK_MS), to: serviceTime(fromMs - 1_000) });
    addChanges(this.#within, changes, { from, to: serviceTime(toMs - 1_000) });
    addChanges(this.#after, changes, { from: to });
    for (const { currency, amount_change: amount, created_at: at } of changes) {
      if (at < from || at >= to) continue;
      this.#totals.set(currency, (this.#totals.get(currency) ?? decimal('0')).plus(decimal(amount)));
    }
  }

  /** Returns a line for each currency. `balances`: before and after the orders were read. */
  lines(balances: readonly [Balances, Balances] | undefined): SumLine[] {
    const currencies = new Set([...Object.keys(this.#before), ...Object.keys(this.#within)]);
    return [...currencies].sort().map((currency) => {
      const isLater = Object.hasOwn(this.#after, currency);
      const shown = balances && !isLater ? quietBalance(currency, ...balances) : undefined;
      return this.#line(currency, shown);
    });
  }

  #line(currency: string, shown: string | undefined): SumLine {
    const [earlier, book, later] = [this.#before, this.#within, this.#after].map((books) => books[currency]);
    const end = shown === undefined ? later && startsOf(later) : [shown];
    const trails = book && trailsOf(book, { ...(earlier && { start: endsOf(earlier) }), ...(end && { end }) });
    const [trail] = trails ?? [];
    const led = earlier && endsOf(earlier, trail ? [trail.start] : end);
    if ((trails ?? led ?? []).length > 1) this.unclear.add(currency);
    const opening = led?.[0] ?? trail?.start ?? '0';
    const closing = shown ?? trail?.end ?? opening;
    const total = this.#totals.get(currency) ?? decimal('0');
    return {
      kind: 'sum',
      account: this.period.account,
      currency,
      changes: book?.changes ?? 0,
      opening,
      total: toAmount(total),
      closing,
      difference: spelled(toAmount(decimal(closing).minus(decimal(opening)).minus(total))),
      ...(shown !== undefined && { current: true }),
    };
  }
}
