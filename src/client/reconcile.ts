import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowFailedError } from '@temporalio/client';
import type { ProtoFailure } from '@temporalio/common';
import { DEFAULT_ACCOUNT, reconcileWorkflowId } from '../contract/ids.js';
import { ORDERS_TASK_QUEUE, RECONCILE_WORKFLOW } from '../contract/names.js';
import { planReconcile } from '../contract/reconcile/input.js';
import type { ReconcileInput, ReconcileProgress, ReconcileResult } from '../contract/reconcile/reconcile.js';
import { InvalidInputError } from './errors.js';
import { decodeFirst, readFirstInput } from './first-input.js';
import { failureOf } from './service-reads.js';
import { callTemporal, isTimeOver, translated } from './temporal-calls.js';
import { checkTimeout, type WaitOptions } from './wait.js';

/** Pace of the look at a reconciliation; the wait for its end in between is what paces it. */
const TICK_MS = 1_000;

/** The `reconcile` workflow. */
export type ReconcileWorkflow = (input?: ReconcileInput) => Promise<ReconcileResult>;

/** Where a reconciliation stands. `trouble`: why its last attempt failed; it is begun again by itself. */
export interface ReconcileState {
  progress?: ReconcileProgress;
  trouble?: string;
}

/** How to wait for a reconciliation. `timeoutMs` omitted = to its end. */
export interface ReconcileOptions extends WaitOptions {
  onState?: (state: ReconcileState) => void;
}

/** A reconciliation of the account goes on: one of another input, or the time the caller gave is over. */
export class ReconcileUnderWayError extends Error {
  override readonly name = 'ReconcileUnderWayError';

  constructor(account: string, reason: string) {
    super(`the reconciliation of account ${account} goes on: ${reason}`);
  }
}

/** The checked input; throws InvalidInputError naming every bad field. */
export function checkReconcileInput(input: ReconcileInput): ReconcileInput {
  const checked = planReconcile(input, Date.now());
  if ('errors' in checked) throw new InvalidInputError(checked.errors);
  return input;
}

/**
 * Reconciles an account, or attaches to the run that is under way, and resolves to what was found. Throws
 * InvalidInputError, ReconcileUnderWayError and ServiceRequestFailedError.
 */
export async function reconcile(
  client: Client,
  input: ReconcileInput,
  { onState, ...wait }: ReconcileOptions = {},
): Promise<ReconcileResult> {
  const { account = DEFAULT_ACCOUNT } = checkReconcileInput(input);
  const timeoutMs = checkTimeout(wait);
  const deadlineMs = timeoutMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs;
  const runId = await start(client, account, input);
  for (;;) {
    const result = await resultWithin(client, account, runId, Math.min(TICK_MS, Math.max(1, deadlineMs - Date.now())));
    if (result) return result;
    onState?.(await stateOf(client, account));
    if (Date.now() >= deadlineMs) throw new ReconcileUnderWayError(account, 'it has not ended yet; ask again later');
  }
}

/** Starts a run, or finds the one that goes on with the same input; returns its run id. */
async function start(client: Client, account: string, input: ReconcileInput): Promise<string> {
  const workflowId = reconcileWorkflowId(account);
  try {
    const handle = await callTemporal(client, () =>
      client.workflow.start<ReconcileWorkflow>(RECONCILE_WORKFLOW, {
        workflowId,
        taskQueue: ORDERS_TASK_QUEUE,
        args: [input],
        // Repairs may be repeated, and every run is one of its own; but two at a time would only be slower.
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy: 'FAIL',
        staticSummary: `reconcile ${account}${input.recover ? ', recover' : ''}`,
      }),
    );
    return handle.firstExecutionRunId;
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return attach(client, account, input);
  }
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
  throw new ReconcileUnderWayError(
    account,
    `it was started with another ${fields.join(', ')}. Start again after its end`,
  );
}

async function resultWithin(
  client: Client,
  account: string,
  runId: string,
  waitMs: number,
): Promise<ReconcileResult | undefined> {
  const handle = client.workflow.getHandle<ReconcileWorkflow>(reconcileWorkflowId(account), runId);
  try {
    return await client.withDeadline(Date.now() + waitMs, () => handle.result());
  } catch (error) {
    if (error instanceof WorkflowFailedError) throw failureOf(error.cause);
    if (isTimeOver(error)) return undefined;
    throw await translated(client, error);
  }
}

/** What its activity last told Temporal. */
async function stateOf(client: Client, account: string): Promise<ReconcileState> {
  const { raw } = await callTemporal(client, () => client.workflow.getHandle(reconcileWorkflowId(account)).describe());
  const [pending] = raw.pendingActivities ?? [];
  const progress = await decodeFirst<ReconcileProgress>(client, pending?.heartbeatDetails);
  const trouble = await messageOf(client, pending?.lastFailure);
  return { ...(progress && { progress }), ...(trouble && { trouble }) };
}

/** A failure's message; workers with payload keys hide it in a payload. */
async function messageOf(client: Client, failure?: ProtoFailure | null): Promise<string | null | undefined> {
  if (!failure?.encodedAttributes) return failure?.message;
  const hidden = await decodeFirst<{ message?: string }>(client, { payloads: [failure.encodedAttributes] });
  return hidden?.message ?? failure.message;
}
