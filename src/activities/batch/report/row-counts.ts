import type { ReportBatchAnswer } from '../../../contract/batch/activities.js';
import { type BatchOutcomes, NONE_ENDED } from '../../../contract/batch/batch.js';
import { type Amount, decimalOrZero, toAmount } from '../../../contract/money.js';
import type { RowEnd } from './row-end.js';

/** What a report counts, as `reportBatch` answers it. */
export type Counted = Pick<ReportBatchAnswer, 'outcomes' | 'moved' | 'started'>;

/** Counts the ends of a batch's rows and adds up what they paid out. */
export class RowCounts {
  readonly #outcomes: BatchOutcomes = { ...NONE_ENDED, notStarted: 0 };
  readonly #moved = new Map<string, Amount>();
  #started = 0;

  add({ outcome, order }: RowEnd): void {
    // Open ones and those without a verdict count as parked: all three are orders that a person may want to look after.
    const counted = outcome === 'open' || outcome === 'unresolved' ? 'parked' : outcome;
    this.#outcomes[counted] += 1;
    if (counted !== 'notStarted' && counted !== 'conflict') this.#started += 1;
    if (!order?.amount_to) return;
    const { currency_to: currency, amount_to: paid } = order;
    this.#moved.set(currency, toAmount(decimalOrZero(this.#moved.get(currency)).plus(decimalOrZero(paid))));
  }

  get counted(): Counted {
    const moved = Object.fromEntries([...this.#moved].sort(([a], [b]) => (a < b ? -1 : 1)));
    return { outcomes: this.#outcomes, moved, started: this.#started };
  }
}
