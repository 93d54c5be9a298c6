import type { BatchRow } from '../../../batch-files/source.js';
import type { PlannedRows } from '../../../contract/batch/activities.js';
import type { BatchProgress } from '../../../contract/batch/batch.js';
import { decimal, decimalOrZero } from '../../../contract/money.js';
import { askedWith } from './count.js';

const ADVICE = 'nothing beyond the plan is sent, also after a resume. Stop it, and look at what reads its rows';

/** Returns why the next rows exceed the plan, by the sums of all rows taken. */
export function beyondPlan(
  { rows: planned, totals }: PlannedRows,
  progress: Pick<BatchProgress, 'taken' | 'asked'>,
  next: readonly BatchRow[],
): string | undefined {
  const rows = progress.taken + next.length;
  if (next.length === 0) return `its rows end after ${rows} of ${planned}; ${ADVICE}`;
  if (rows > planned) return `it would take ${rows} rows, the plan has ${planned}; ${ADVICE}`;
  const asked = Object.entries(askedWith(progress, next));
  const over = asked.find(([currency, sum]) => decimal(sum).gt(decimalOrZero(totals[currency])));
  if (!over) return undefined;
  const [currency, sum] = over;
  return `rows ${progress.taken + 1} to ${rows} would make ${sum} ${currency}, the plan has ${totals[currency] ?? '0'}; ${ADVICE}`;
}
