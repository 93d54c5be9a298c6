import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError, type ScheduleOptions } from '@temporalio/client';
import { DEFAULT_ACCOUNT, reconcileWorkflowId } from '../contract/ids.js';
import { ORDERS_TASK_QUEUE, RECONCILE_WORKFLOW } from '../contract/names.js';
import type { ReconcileInput } from '../contract/reconcile/reconcile.js';
import { InvalidInputError } from './errors.js';
import { checkReconcileInput, type ReconcileWorkflow } from './reconcile.js';
import { callTemporal } from './temporal-calls.js';

/** A reconciliation that Temporal starts again and again; each run looks at the last 72 h. */
export interface ReconcileSchedule extends Pick<ReconcileInput, 'account' | 'openTooLongMs'> {
  /** A minute to 72 h: each run looks at the last 72 h. */
  everyMs: number;
}

const [SHORTEST_MS, LONGEST_MS] = [60_000, 72 * 3_600_000];
/** What was missed while Temporal was down is covered by the next run's window. */
const CATCH_UP_MS = 3_600_000;

/** Creates the account's schedule, or gives it another pace; there is one per account, `reconcile:<account>`. Throws InvalidInputError. */
export async function scheduleReconcile(client: Client, { everyMs, ...input }: ReconcileSchedule): Promise<void> {
  checkReconcileInput(input);
  if (!Number.isSafeInteger(everyMs) || everyMs < SHORTEST_MS || everyMs > LONGEST_MS) {
    throw new InvalidInputError([{ field: 'everyMs', reason: 'must be whole milliseconds, a minute to 72 h' }]);
  }
  const scheduleId = reconcileWorkflowId(input.account ?? DEFAULT_ACCOUNT);
  const options = optionsOf(scheduleId, everyMs, input);
  try {
    await callTemporal(client, () => client.schedule.create(options));
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const handle = client.schedule.getHandle(scheduleId);
    await callTemporal(client, () => handle.update(({ state }) => ({ ...options, state })));
  }
}

const optionsOf = (
  scheduleId: string,
  everyMs: number,
  input: ReconcileInput,
): ScheduleOptions & {
  action: { type: 'startWorkflow' };
} => ({
  scheduleId,
  spec: { intervals: [{ every: everyMs }] },
  policies: { overlap: 'SKIP', catchupWindow: CATCH_UP_MS },
  action: {
    type: 'startWorkflow',
    workflowType: RECONCILE_WORKFLOW,
    // Temporal appends the time. A run started by hand may go on beside it: what both repair is repaired once.
    workflowId: scheduleId,
    taskQueue: ORDERS_TASK_QUEUE,
    args: [input] satisfies Parameters<ReconcileWorkflow>,
    staticSummary: `${scheduleId} by the clock`,
  },
});

/** Deletes the account's schedule; false: there was none. A run that goes on is not touched. */
export async function unscheduleReconcile(client: Client, account = DEFAULT_ACCOUNT): Promise<boolean> {
  try {
    await callTemporal(client, () => client.schedule.getHandle(reconcileWorkflowId(account)).delete());
    return true;
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return false;
    throw error;
  }
}
