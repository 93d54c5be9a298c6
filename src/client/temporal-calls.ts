import {
  type Client,
  Connection,
  isGrpcCancelledError,
  isGrpcDeadlineError,
  type Workflow,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandleWithFirstExecutionRunId,
  WorkflowNotFoundError,
  type WorkflowStartOptions,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import {
  type InternalWorkflowStartOptions,
  InternalWorkflowStartOptionsSymbol,
} from '@temporalio/client/lib/internal.js';
import { ApplicationFailure, NamespaceNotFoundError } from '@temporalio/common';
import { messageOf } from '../contract/failures.js';
import { ORDERS_TASK_QUEUE } from '../contract/names.js';
import { GRPC, grpcStatus, searchAttributesAdvice, TemporalSetupError, TemporalUnreachableError } from '../temporal.js';
import { bounded, pause, requireRunning, type WaitOptions } from './bounded.js';
import { NoWorkerError } from './errors.js';

/** Time limit of a call to Temporal, so that a hanging server does not hang the caller. */
const CALL_TIMEOUT_MS = 30_000;
/** Time limit of the checks after a time-out. The caller waits for them. */
export const CHECK_WITHIN = { timeoutMs: 500 };

/** Options of a call to Temporal. Default of `timeoutMs`: 30 s. */
export interface CallOptions extends WaitOptions {
  /** Sentence for the caller if Temporal does not answer, such as what may have been started. */
  unanswered?: string;
}

const UNREACHABLE: readonly number[] = [
  GRPC.cancelled,
  GRPC.deadlineExceeded,
  GRPC.resourceExhausted,
  GRPC.unavailable,
  GRPC.unauthenticated,
];

/** Returns true if a deadline ended the call (gRPC may say: cancelled) or a query found no worker. */
export function isNobodyAnswering(error: unknown): boolean {
  const ofUpdate = error instanceof WorkflowUpdateRPCTimeoutOrCancelledError;
  const isTimeOver = ofUpdate || isGrpcDeadlineError(error) || isGrpcCancelledError(error);
  return isTimeOver || grpcStatus(error)?.code === GRPC.failedPrecondition;
}

/** Returns true if Temporal dropped an update because its workflow task failed. */
const isAbortedUpdate = (error: unknown): boolean =>
  grpcStatus(error)?.details.includes('unexpected workflow task failure') ?? false;

async function setupError(client: Client, details: string): Promise<TemporalSetupError> {
  const advice = await callTemporal(client, () => searchAttributesAdvice(client)).catch(() => undefined);
  return new TemporalSetupError(details, advice ?? 'Check permissions and set-up of the namespace');
}

function unreachable(client: Client, reason: string, unanswered?: string): TemporalUnreachableError {
  const because = unanswered ? `${reason}. ${unanswered}` : reason;
  const address = client.connection instanceof Connection ? client.connection.options.address : 'the given connection';
  return new TemporalUnreachableError(address, client.options.namespace, because);
}

/** Returns true for gRPC's error of a call after the end of its connection. */
const isClosed = (error: unknown): boolean =>
  error instanceof Error && [error, error.cause].some((one) => messageOf(one) === 'Channel has been shut down');

/** Returns the library's error for a connection error of the SDK, and others unchanged. */
export async function translated(client: Client, error: unknown, unanswered?: string): Promise<unknown> {
  if (error instanceof NamespaceNotFoundError) return unreachable(client, 'no such namespace');
  if (isClosed(error)) return unreachable(client, 'the connection was closed by `close()`: connect again', unanswered);
  const status = grpcStatus(error);
  if (!status) return error;
  if (UNREACHABLE.includes(status.code)) return unreachable(client, status.details, unanswered);
  const refused = status.code === GRPC.invalidArgument || status.code === GRPC.permissionDenied;
  return refused ? setupError(client, status.details) : error;
}

/** Calls Temporal within limits. Throws TemporalUnreachableError and TemporalSetupError. */
export async function callTemporal<T>(
  client: Client,
  call: () => Promise<T>,
  { timeoutMs = CALL_TIMEOUT_MS, unanswered, ...wait }: CallOptions = {},
): Promise<T> {
  try {
    return await bounded(client, { ...wait, timeoutMs }, call, () => {
      throw unreachable(client, `no answer in ${timeoutMs} ms`, unanswered);
    });
  } catch (error) {
    throw await translated(client, error, unanswered);
  }
}

/**
 * Returns options of a start after a given run. If that run already has a successor, the start
 * returns the successor, because the server keeps the request id of the newest run. The SDK has no
 * public name for it.
 */
export const startAfter = (
  runId: string,
): Pick<InternalWorkflowStartOptions, typeof InternalWorkflowStartOptionsSymbol> => ({
  [InternalWorkflowStartOptionsSymbol]: { requestId: `after:${runId}` },
});

/** Starts a workflow; undefined if its id is taken, which only the policy FAIL reports. */
export async function startUnlessTaken<W extends Workflow>(
  client: Client,
  type: string,
  options: WorkflowStartOptions<W>,
  unanswered?: string,
): Promise<WorkflowHandleWithFirstExecutionRunId<W> | undefined> {
  const start = () => client.workflow.start<W>(type, { ...options, workflowIdConflictPolicy: 'FAIL' });
  try {
    return await callTemporal(client, start, { unanswered });
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return undefined;
    throw error;
  }
}

/** Least pause of a caller for whose wait Temporal has no room. */
const CROWDED_MS = 2_000;

/** Waits although Temporal has no room: it lets about 1,200 callers of a namespace wait at once. */
export async function untilRoom<T>(wait: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await wait();
    } catch (error) {
      if (grpcStatus(error)?.code !== GRPC.resourceExhausted) throw error;
    }
    await pause(CROWDED_MS * (1 + Math.random()));
  }
}

/** Pauses between attempts to send an update. */
const [FIRST_PAUSE_MS, MAX_PAUSE_MS] = [200, 10_000];

/** Repeats an update with a fixed id: Temporal drops it if its workflow task fails. */
export async function untilTaken<T>(update: () => Promise<T>): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    // The call may have stopped while a signer or a pause ran.
    requireRunning();
    try {
      return await update();
    } catch (error) {
      if (!isAbortedUpdate(error)) throw error;
    }
    await pause(pauseMs);
  }
}

/** Throws TemporalUnreachableError after a time-out, unless Temporal answers now. */
export async function requireTemporal(client: Client, unanswered?: string): Promise<void> {
  await callTemporal(client, () => client.workflowService.getSystemInfo({}), { ...CHECK_WITHIN, unanswered });
}

/** Throws NoWorkerError. Asks Temporal first: a silent Temporal looks like a missing worker. */
export async function throwNoWorker(client: Client, update?: string): Promise<never> {
  await requireTemporal(client);
  throw new NoWorkerError(ORDERS_TASK_QUEUE, { update });
}

/** Server's failure type of an update whose workflow ended first. */
const UPDATE_OUTLIVED_WORKFLOW = 'AcceptedUpdateCompletedWorkflow';

/** Returns true if an update came too late: its workflow has ended, or never existed. */
export function cameTooLate(error: unknown): boolean {
  if (error instanceof WorkflowNotFoundError) return true;
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === UPDATE_OUTLIVED_WORKFLOW;
}
