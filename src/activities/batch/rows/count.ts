import type { BatchRow } from '../../../batch-files/source.js';
import type { Standing } from '../../../client/standing.js';
import type { PlannedRows, ReportBatchAnswer } from '../../../contract/batch/activities.js';
import type { AmountsByCurrency, BatchOutcomes, BatchProgress, OpenRow } from '../../../contract/batch/batch.js';
import { AMOUNT_FORMAT, type Amount, decimal, decimalOrZero, toAmount } from '../../../contract/money.js';
import type { Order } from '../../../contract/service-objects.js';
import type { StartedRow } from './start-row.js';

/** Also 'open' and 'unresolved': the run ended or is gone, and the order may exist. */
type RowOutcome = keyof BatchOutcomes | 'open' | 'unresolved';

export function outcomeOf(standing: Standing): Exclude<RowOutcome, 'notStarted'> {
  switch (standing.kind) {
    case 'completed':
      return standing.result.outcome;
    case 'open':
      return standing.waits === 'parked' ? 'parked' : 'open';
    case 'noOrder':
      return standing.failure === 'OrderConflict' ? 'conflict' : 'refused';
    case 'unresolved':
      // A person has closed it, and another order has the id, so nobody is asked again.
      return standing.how === 'closed' ? 'conflict' : 'unresolved';
    case 'notStarted':
    case 'unreadable':
      return 'unresolved';
  }
}

/** Returns why the end of an 'unresolved' row is unknown. */
export function whyUnresolved(standing: Standing): string {
  switch (standing.kind) {
    case 'notStarted':
      return 'Temporal no longer has its workflow';
    case 'unreadable':
      return `${standing.what === 'result' ? 'its result' : 'it'} cannot be read (${standing.why})`;
    case 'unresolved':
      if (standing.how !== 'failed') return 'its workflow was terminated';
      return `its workflow failed as ${standing.type ?? 'something else'}`;
    default:
      return 'it is known';
  }
}

function addMoved(moved: Record<string, Amount>, { currency_to: currency, amount_to: paid }: Order): void {
  if (paid === null) return;
  moved[currency] = toAmount(decimalOrZero(moved[currency]).plus(decimalOrZero(paid)));
}

/** Returns true if a row was taken, in its turn or ahead of it. */
export const isTaken = ({ taken, ahead }: Pick<BatchProgress, 'taken' | 'ahead'>, row: number): boolean =>
  row <= taken || ahead?.includes(row) === true;

/** Maximum parked rows with an unknown outcome to remember. */
const UNSETTLED_KEPT = 50;

/** Moves past rows that were taken, whatever happened to them. */
export function countTaken(progress: BatchProgress, rows: readonly Pick<BatchRow, 'row' | 'order'>[]): void {
  progress.asked = askedWith(progress, rows);
  const ahead = new Set([...(progress.ahead ?? []), ...rows.map(({ row }) => row)]);
  while (ahead.delete(progress.taken + 1)) progress.taken += 1;
  progress.ahead = ahead.size > 0 ? [...ahead] : undefined;
}

/** Returns the requested amounts of all rows taken so far and of these. */
function askedWith(
  { asked }: Pick<BatchProgress, 'asked'>,
  rows: readonly Pick<BatchRow, 'order'>[],
): AmountsByCurrency {
  const sums = { ...asked };
  for (const { order } of rows) {
    if (!asksForMoney(order)) continue;
    const { currency, amount } = order;
    sums[currency] = toAmount(decimalOrZero(sums[currency]).plus(decimal(amount)));
  }
  return sums;
}

/** Returns false for an unreadable row, which becomes no order. */
export function asksForMoney(order: unknown): order is { currency: string; amount: string; order_id?: unknown } {
  const { currency, amount } = (order ?? {}) as { currency?: unknown; amount?: unknown };
  return typeof currency === 'string' && typeof amount === 'string' && AMOUNT_FORMAT.test(amount);
}

const ADVICE = 'nothing beyond the plan is sent, also after a resume. Stop it, and look at what reads its rows';

/** Returns why the next rows exceed the plan, by the sums of all rows taken. */
export function beyondPlan(
  { rows: planned, totals }: PlannedRows,
  progress: Pick<BatchProgress, 'taken' | 'asked' | 'ahead'>,
  next: readonly BatchRow[],
): string | undefined {
  const rows = progress.taken + (progress.ahead?.length ?? 0) + next.length;
  if (next.length === 0) return `its rows end after ${rows} of ${planned}; ${ADVICE}`;
  if (rows > planned) return `it would take ${rows} rows, the plan has ${planned}; ${ADVICE}`;
  const asked = Object.entries(askedWith(progress, next));
  const over = asked.find(([currency, sum]) => decimal(sum).gt(decimalOrZero(totals[currency])));
  if (!over) return undefined;
  const [currency, sum] = over;
  return `rows ${progress.taken + 1} to ${rows} would make ${sum} ${currency}, the plan has ${totals[currency] ?? '0'}; ${ADVICE}`;
}

/** Counts a row after its start. A parked one is followed like all others. */
export function countStarted(progress: BatchProgress, { row, orderId, standing }: StartedRow): void {
  if (orderId === undefined) {
    const outcome = outcomeOf(standing);
    if (outcome === 'refused' || outcome === 'conflict') progress.outcomes[outcome] += 1;
    return;
  }
  const open: OpenRow = { row, orderId };
  progress.started += 1;
  progress.open.push(open);
  if (standing.kind !== 'open') countEnd(progress, open, standing);
}

/** Counts a row whose order ended. */
export function countEnd(progress: BatchProgress, open: OpenRow, standing: Standing): void {
  const outcome = outcomeOf(standing);
  if (outcome === 'open' || outcome === 'parked') return;
  if (outcome === 'unresolved') {
    countParked(progress, open, true);
    progress.attention = `row ${open.row} (${open.orderId}): ${whyUnresolved(standing)}; the order may exist, look it up at the service`;
    return;
  }
  close(progress, open, outcome);
  if (standing.kind === 'completed') addMoved(progress.moved, standing.result.order);
}

/** Counts a row that waits for a person. `unsettled`: its order may or may not exist. */
export function countParked(progress: BatchProgress, open: OpenRow, unsettled: boolean): void {
  close(progress, open, 'parked');
  if (unsettled) progress.unsettled = [...progress.unsettled, open.row].slice(-UNSETTLED_KEPT);
}

function close(progress: BatchProgress, { row }: OpenRow, outcome: keyof BatchProgress['outcomes']): void {
  progress.open = progress.open.filter((open) => open.row !== row);
  if (progress.short) progress.short = progress.short.filter((other) => other !== row);
  progress.outcomes[outcome] += 1;
}

/** State of a row's order. `order` is absent while the service has none. */
export interface RowEnd {
  outcome: RowOutcome;
  order?: Order;
  reason?: string;
  /** The order existed before this batch, or another batch started it. */
  before?: true;
}

/** Counts a row for the result of its batch. */
export function countRow(counted: ReportBatchAnswer, { outcome, order, before }: RowEnd): void {
  // Open and unresolved rows count as parked, because a person may want to look at them.
  const known = outcome === 'open' || outcome === 'unresolved' ? 'parked' : outcome;
  counted.outcomes[known] += 1;
  const isOurs = known !== 'notStarted' && known !== 'conflict';
  if (isOurs) counted.started += 1;
  if (order) addMoved(counted.moved, order);
  if (!before || !isOurs || known === 'refused') return;
  counted.before ??= { rows: 0, moved: {} };
  counted.before.rows += 1;
  if (order) addMoved(counted.before.moved, order);
}
