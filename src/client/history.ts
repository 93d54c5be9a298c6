import {
  type Client,
  type Workflow,
  WorkflowFailedError,
  WorkflowNotFoundError,
  type WorkflowResultType,
} from '@temporalio/client';
import type { Payload, ProtoFailure, SerializationContext } from '@temporalio/common';
import {
  decode,
  decodeArrayFromPayloads,
  decodeOptionalFailureToOptionalError,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto from '@temporalio/proto';
import type { RunInput } from '../contract/order/input-and-result.js';
import { runThatWrote } from '../contract/refused.js';
import { GRPC, grpcStatus, PayloadDecryptionError } from '../temporal.js';
import { callTemporal, untilRoom } from './temporal-calls.js';

const { HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT } = proto.temporal.api.enums.v1.HistoryEventFilterType;

/** Returns how the newest run of an id, or `runId`, was started. The input is unchecked. */
export async function readFirstInput<I = RunInput>(client: Client, workflowId: string, runId?: string) {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  const input = await decodeFirst<I>(client, started?.input, ofWorkflow(client, workflowId));
  // A run without arguments is compared as one without any wishes.
  return { workflowType: started?.workflowType?.name ?? '', input: input ?? ({} as I) };
}

/** Identifies the run to read. */
interface RunName {
  workflowId: string;
  runId: string;
}

/** Newest event of a run. If it closes nothing, or is undefined, the run is open. */
export type HistoryEvent = Exclude<Awaited<ReturnType<typeof readLastEvent>>, 'unknown'>;

type Payloads = { payloads?: Payload[] | null } | null | undefined;

/** Returns the context of a workflow's payloads: input, result and messages. */
export const ofWorkflow = ({ options: { namespace } }: Client, workflowId: string): SerializationContext => ({
  type: 'workflow',
  namespace,
  workflowId,
});

/** Returns the context of an activity's payloads: heartbeats and results. */
export const ofActivity = (client: Client, workflowId: string, activityId?: string | null): SerializationContext => ({
  type: 'activity',
  namespace: client.options.namespace,
  workflowId,
  isLocal: false,
  ...(activityId && { activityId }),
});

/** Decodes the first payload. Returns undefined if there is none. */
export async function decodeFirst<T>(
  client: Client,
  given: Payloads,
  context: SerializationContext,
): Promise<T | undefined> {
  const [first] = await decodeAll(client, given, context);
  return first as T | undefined;
}

/** Decodes an activity's last heartbeat, for display; undefined if it is not authentic. */
export async function heartbeatOf<T>(
  client: Client,
  given: Payloads,
  context: SerializationContext,
): Promise<T | undefined> {
  try {
    return await decodeFirst<T>(client, given, context);
  } catch (error) {
    if (PayloadDecryptionError.is(error)) return undefined;
    throw error;
  }
}

/** Decodes payloads. Throws PayloadDecryptionError if they belong to another workflow. */
export const decodeAll = (client: Client, given: Payloads, context: SerializationContext): Promise<unknown[]> =>
  decodeArrayFromPayloads(client.workflow.options.loadedDataConverter, given?.payloads, context);

/** Returns the error of an API failure. Throws PayloadDecryptionError if it is not authentic. */
export const errorOf = (
  client: Client,
  failure: ProtoFailure | null | undefined,
  context: SerializationContext,
): Promise<Error | undefined> =>
  decodeOptionalFailureToOptionalError(client.workflow.options.loadedDataConverter, failure, context);

/** Waits for the event that closes a run. Throws the SDK's WorkflowNotFoundError. */
async function awaitClosingEvent(client: Client, { workflowId, runId }: RunName): Promise<HistoryEvent> {
  let nextPageToken: Uint8Array | undefined;
  for (;;) {
    const request = {
      namespace: client.options.namespace,
      execution: { workflowId, runId },
      historyEventFilterType: HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
      waitNewEvent: true,
      // With the archive, every wait would cost the server an extra call.
      skipArchival: true,
      nextPageToken,
    };
    const wait = () => client.workflowService.getWorkflowExecutionHistory(request);
    const answer = await untilRoom(wait).catch((error: unknown) => {
      const status = grpcStatus(error);
      throw status?.code === GRPC.notFound ? new WorkflowNotFoundError(status.details, workflowId, runId) : error;
    });
    const end = answer.history?.events?.at(-1);
    if (end) return end;
    // If the run is still open after 20 s, the server returns a token for the next wait.
    nextPageToken = answer.nextPageToken;
  }
}

/** Throws PayloadDecryptionError if anything but this run wrote its end. */
export async function refuseForeignEnd(
  client: Client,
  end: HistoryEvent,
  { workflowId, runId }: RunName,
): Promise<void> {
  const { failureConverter, payloadCodecs } = client.workflow.options.loadedDataConverter;
  const context = ofWorkflow(client, workflowId);
  const result = end?.workflowExecutionCompletedEventAttributes?.result?.payloads ?? [];
  const failure = end?.workflowExecutionFailedEventAttributes?.failure;
  const said = failure?.encodedAttributes ? [failure.encodedAttributes] : result;
  try {
    await errorOf(client, failure, context);
    const runs = (await decode(payloadCodecs, said, context)).map(runThatWrote);
    // Runs that were started before this mark existed name no run.
    if (runs.every((run) => run === undefined || run === runId)) return;
  } catch (error) {
    const isRequired = 'required' in failureConverter && failureConverter.required;
    if (failure && !isRequired && PayloadDecryptionError.is(error) && error.refused === 'unreadable') return;
    throw error;
  }
  throw new PayloadDecryptionError('the workflow was ended with what another run of its id wrote', 'foreign');
}

/** Returns the newest event of a run without waiting; 'unknown' if Temporal has no such run. */
export async function readLastEvent(client: Client, workflowId: string, runId?: string) {
  try {
    const { history } = await callTemporal(client, () =>
      client.workflowService.getWorkflowExecutionHistoryReverse({
        namespace: client.options.namespace,
        execution: { workflowId, runId },
        maximumPageSize: 1,
      }),
    );
    return history?.events?.[0];
  } catch (error) {
    if (grpcStatus(error)?.code === GRPC.notFound) return 'unknown';
    throw error;
  }
}

/**
 * Waits for the end of the newest run, or of `runId`. Throws as the SDK's `result` does, and
 * PayloadDecryptionError if another run of the id wrote the end.
 */
export async function resultOfRun<W extends Workflow>(
  client: Client,
  workflowId: string,
  runId?: string,
): Promise<WorkflowResultType<W>> {
  const run = runId ?? (await newestRun(client, workflowId));
  const end = await awaitClosingEvent(client, { workflowId, runId: run });
  const next = goesOnIn(end);
  if (next) return resultOfRun<W>(client, workflowId, next);
  await refuseForeignEnd(client, end, { workflowId, runId: run });
  const completed = end?.workflowExecutionCompletedEventAttributes;
  // The SDK reads the end again and makes its error.
  if (!completed) return client.workflow.result<W>(workflowId, run, { followRuns: false });
  return (await decodeFirst(client, completed.result, ofWorkflow(client, workflowId))) as WorkflowResultType<W>;
}

/** Waits for `started`, usually the newest run; if it did not complete, for the newest. */
export async function resultOfNewest<W extends Workflow>(
  client: Client,
  workflowId: string,
  started: string,
): Promise<WorkflowResultType<W>> {
  try {
    return await resultOfRun<W>(client, workflowId, started);
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const newest = await newestRun(client, workflowId);
    if (newest === started) throw error;
    return resultOfNewest<W>(client, workflowId, newest);
  }
}

const newestRun = async (client: Client, workflowId: string): Promise<string> =>
  (await client.workflow.getHandle(workflowId).describe()).runId;

const goesOnIn = (end: HistoryEvent): string | null | undefined =>
  (
    end?.workflowExecutionContinuedAsNewEventAttributes ??
    end?.workflowExecutionCompletedEventAttributes ??
    end?.workflowExecutionFailedEventAttributes ??
    end?.workflowExecutionTimedOutEventAttributes
  )?.newExecutionRunId;

/** Returns the result if it has this field. Throws PayloadDecryptionError for any other payload. */
export function resultWith<T extends object>(field: keyof T & string, value: T): T {
  if (typeof value === 'object' && value !== null && field in value) return value;
  throw new PayloadDecryptionError('the workflow ended with something that is no result of it', 'foreign');
}
