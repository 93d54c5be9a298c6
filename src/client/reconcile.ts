import type { Client } from '@temporalio/client';
import { DEFAULT_ACCOUNT, ORDERS_TASK_QUEUE, RECONCILE_WORKFLOW, reconcileWorkflowId } from '../contract/names.js';
import { checkedReconcileInput } from '../contract/reconcile/input.js';
import type { ReconcileInput, ReconcileProgress, ReconcileResult } from '../contract/reconcile/reconcile.js';
import type { WaitOptions } from './bounded.js';
import { accepted } from './checked-input.js';
import { NotDecidedYetError } from './errors.js';
import { errorOf, heartbeatOf, ofActivity, readFirstInput, resultOfRun, resultWith } from './history.js';
import { waitWithin } from './remote-run.js';
import { callTemporal, requireTemporal, startUnlessTaken } from './temporal-calls.js';

/** Interval of progress reports while a reconciliation runs. */
const TICK_MS = 1_000;

export type ReconcileWorkflow = (input?: ReconcileInput) => Promise<ReconcileResult>;

/** State of a reconciliation. `trouble`: why its last attempt failed; Temporal repeats it. */
export interface ReconcileState {
  progress?: ReconcileProgress;
  trouble?: string;
}

/** Options of the wait. Without `timeoutMs`, it lasts to the end. */
export interface ReconcileOptions extends WaitOptions {
  /** Called with each new state. */
  onState?: (state: ReconcileState) => void;
}

/** Returns the checked input. Throws InvalidInputError with every bad field. */
export function checkReconcileInput(input: ReconcileInput): ReconcileInput {
  accepted(checkedReconcileInput(input, Date.now()));
  return input;
}

/** Reconciles an account, or attaches to a run. Throws InvalidInputError, NotDecidedYetError and FailedError. */
export async function reconcile(
  client: Client,
  input: ReconcileInput,
  { onState, ...wait }: ReconcileOptions = {},
): Promise<ReconcileResult> {
  const { account = DEFAULT_ACCOUNT } = checkReconcileInput(input);
  let runId: string | undefined;
  const follow = async () => {
    runId = await start(client, account, input);
    for (;;) {
      const result = await resultWithin(client, account, runId, TICK_MS);
      if (result) return result;
      onState?.(await stateOf(client, account));
    }
  };
  return waitWithin(client, { subject: 'reconcile', id: account, ...wait }, follow, async () => {
    // Without a run, the start may have been lost.
    if (!runId) await requireTemporal(client);
    throw new NotDecidedYetError('reconcile', account);
  });
}

/** Starts a run, or finds the open run with the same input. Returns its run id. */
async function start(client: Client, account: string, input: ReconcileInput): Promise<string> {
  const started = await startUnlessTaken<ReconcileWorkflow>(client, RECONCILE_WORKFLOW, {
    workflowId: reconcileWorkflowId(account),
    taskQueue: ORDERS_TASK_QUEUE,
    args: [input],
    // Repairs may be repeated, so each run is independent. Two runs at the same time would only be
    // slower.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    staticSummary: `reconcile ${account}${input.recover ? ', recover' : ''}`,
  });
  return started?.firstExecutionRunId ?? attach(client, account, input);
}

async function attach(client: Client, account: string, input: ReconcileInput): Promise<string> {
  const workflowId = reconcileWorkflowId(account);
  const [{ runId }, first] = await callTemporal(client, () =>
    Promise.all([client.workflow.getHandle(workflowId).describe(), readFirstInput<ReconcileInput>(client, workflowId)]),
  );
  const fields = (['from', 'to', 'recover', 'openTooLongMs'] as const).filter(
    (field) => (input[field] || undefined) !== (first.input[field] || undefined),
  );
  if (fields.length === 0) return runId;
  const reason = `it was started with another ${fields.join(', ')}. Start again after its end`;
  throw new NotDecidedYetError('reconcile', account, { reason });
}

async function resultWithin(
  client: Client,
  account: string,
  runId: string,
  waitMs: number,
): Promise<ReconcileResult | undefined> {
  const read = async (): Promise<ReconcileResult | undefined> =>
    resultWith('classes', await resultOfRun<ReconcileWorkflow>(client, reconcileWorkflowId(account), runId));
  return waitWithin(client, { subject: 'reconcile', id: account, timeoutMs: waitMs }, read, () => undefined);
}

/** Returns the last heartbeat of the running activity. */
async function stateOf(client: Client, account: string): Promise<ReconcileState> {
  const workflowId = reconcileWorkflowId(account);
  const { raw } = await callTemporal(client, () => client.workflow.getHandle(workflowId).describe());
  const [pending] = raw.pendingActivities ?? [];
  const context = ofActivity(client, workflowId, pending?.activityId);
  const progress = await heartbeatOf<ReconcileProgress>(client, pending?.heartbeatDetails, context);
  const trouble = (await errorOf(client, pending?.lastFailure, context))?.message;
  return { ...(progress && { progress }), ...(trouble && { trouble }) };
}
