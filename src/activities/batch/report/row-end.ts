import type { Client } from '@temporalio/client';
import { ConflictError, FailedError, UnresolvedError } from '../../../client/errors.js';
import { OrderHandle } from '../../../client/order-handle.js';
import { describeRun, type Standing, standingOf, standingOfFailure, whyUnreadable } from '../../../client/standing.js';
import { refuseOtherInput } from '../../../client/start-order.js';
import type { ReportBatchAnswer } from '../../../contract/batch/activities.js';
import { NONE_ENDED } from '../../../contract/batch/batch.js';
import { maskName } from '../../../contract/masking.js';
import { DEFAULT_ACCOUNT, searchAttribute } from '../../../contract/names.js';
import type { OrderInput, OrderResult } from '../../../contract/order/input-and-result.js';
import type { Order } from '../../../contract/service-objects.js';
import { addMoved, outcomeOf, type RowOutcome, whyUnresolved } from '../outcome.js';

/** How the order of a row stands; `order` is absent while none is known at the service. */
export interface RowEnd {
  outcome: RowOutcome;
  order?: Order;
  reason?: string;
  /** Its order was there before this batch began, or another batch started it. */
  before?: true;
}

/** Reads how a row's order ended, whoever started it. `taken`: a missing run was removed. */
export async function readRowEnd(
  client: Client,
  input: OrderInput<'withdraw'>,
  { taken, startedAt }: { taken: boolean; startedAt: string },
): Promise<RowEnd> {
  const handle = new OrderHandle(client, input.account ?? DEFAULT_ACCOUNT, input.order.order_id);
  const run = await describeRun(client, handle.workflowId);
  const standing = await standingOf(client, run);
  if (!run || standing.kind === 'notStarted') {
    const reason = `${whyUnresolved({ kind: 'notStarted' })}; the order may exist, look it up at the service`;
    return taken ? { outcome: 'unresolved', reason } : { outcome: 'notStarted' };
  }
  let compared = false;
  const read = async () => {
    await refuseOtherInput(client, 'withdraw', input);
    compared = true;
    if (standing.kind === 'completed') return endOf(standing.result);
    return standing.kind === 'open' ? openEnd(handle, standing) : endOf(await handle.result());
  };
  const end = await read().catch((error: unknown) => {
    const found = endWithoutResult(error, compared ? standing : undefined);
    if (!found) throw error;
    return found;
  });
  // A run that was rebuilt for an order of this batch names no batch, and is younger.
  const startedBy = run.typedSearchAttributes.get(searchAttribute.batchId);
  const isOlder = run.startTime.getTime() < Date.parse(startedAt);
  return { ...end, ...((isOlder || (startedBy !== undefined && startedBy !== input.batchId)) && { before: true }) };
}

/** An order that goes on. Why it waits is told by its workflow; without an answer the report does without. */
async function openEnd(handle: OrderHandle, standing: Standing): Promise<RowEnd> {
  const state = await handle.state().catch(() => undefined);
  return { outcome: outcomeOf(standing), order: state?.order ?? undefined, reason: state?.attention?.reason };
}

const endOf = (result: OrderResult): RowEnd => ({
  outcome: result.outcome,
  order: result.order,
  reason: reasonOf(result) || undefined,
});

function reasonOf({ order, remainder = [], remainderUnknown, compensation }: OrderResult): string {
  return [
    // The service's own words may hold anything.
    ...(order.error_message ? [maskName(order.error_message)] : []),
    ...remainder.map(({ kind, amount, currency }) => `${amount} ${currency} ${kind}`),
    ...(remainderUnknown ? [remainderUnknown] : []),
    ...(compensation && compensation.status !== 'none' ? [`compensation ${compensation.status}`] : []),
    ...(compensation?.reason ? [compensation.reason] : []),
  ].join('; ');
}

/** The end that an error shows, of an unreadable payload too; undefined for errors that may pass. */
function endWithoutResult(error: unknown, end: Standing | undefined): RowEnd | undefined {
  const reason = error instanceof Error ? error.message : undefined;
  if (error instanceof ConflictError) return { outcome: 'conflict', reason };
  if (error instanceof FailedError) return { outcome: outcomeOf(standingOfFailure(error.type)), reason };
  if (error instanceof UnresolvedError) return { outcome: error.closed ? 'conflict' : 'unresolved', reason };
  const why = whyUnreadable(error);
  if (!why) return undefined;
  // The type of a failure is not encrypted.
  const outcome = end && outcomeOf(end);
  if (outcome === 'refused' || outcome === 'conflict') return { outcome, reason: why };
  return { outcome: 'unresolved', reason: `what became of it cannot be read (${why}); look it up at the service` };
}

/** Counts of a report. */
export type Counted = Pick<ReportBatchAnswer, 'outcomes' | 'moved' | 'started' | 'before'>;

/** Before any row is counted. */
export const noneCounted = (): Counted => ({ outcomes: { ...NONE_ENDED, notStarted: 0 }, moved: {}, started: 0 });

/** Counts the end of a row and adds up what it paid out. */
export function countRow(counted: Counted, { outcome, order, before }: RowEnd): void {
  // Open and unresolved ones count as parked: all three are orders that a person may want to look after.
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
