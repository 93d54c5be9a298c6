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
import { callTemporal } from './temporal-calls.js';

const { HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT } = proto.temporal.api.enums.v1.HistoryEventFilterType;

/** Returns how the newest run of an id, or `runId`, was started; the input is unchecked. */
export async function readFirstInput<I = RunInput>(client: Client, workflowId: string, runId?: string) {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  const input = await decodeFirst<I>(client, started?.input, ofWorkflow(client, workflowId));
  // A run without any argument compares as one that asks for nothing.
  return { workflowType: started?.workflowType?.name ?? '', input: input ?? ({} as I) };
}

/** Which run of an id is read. */
interface RunName {
  workflowId: string;
  runId: string;
}

/** The newest event of a run; undefined and one that closes nothing stand for a run that goes on. */
export type HistoryEvent = Exclude<Awaited<ReturnType<typeof readLastEvent>>, 'unknown'>;

type Payloads = { payloads?: Payload[] | null } | null | undefined;

/** That a payload belongs to a workflow: its input, its result, what was said to it. */
export const ofWorkflow = ({ options: { namespace } }: Client, workflowId: string): SerializationContext => ({
  type: 'workflow',
  namespace,
  workflowId,
});

/** That a payload belongs to an activity of a workflow: what it left with the server. */
export const ofActivity = (client: Client, workflowId: string, activityId?: string | null): SerializationContext => ({
  type: 'activity',
  namespace: client.options.namespace,
  workflowId,
  isLocal: false,
  ...(activityId && { activityId }),
});

/** The first of some payloads that the server handed out as they are; undefined when there is none. */
export async function decodeFirst<T>(
  client: Client,
  given: Payloads,
  context: SerializationContext,
): Promise<T | undefined> {
  const [first] = await decodeAll(client, given, context);
  return first as T | undefined;
}

/** What an activity last told the server, which is shown and relied on by nobody; undefined where something without the keys wrote it. */
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

/** Decodes payloads that the server handed out as they are. Throws PayloadDecryptionError for what belongs to something else. */
export const decodeAll = (client: Client, given: Payloads, context: SerializationContext): Promise<unknown[]> =>
  decodeArrayFromPayloads(client.workflow.options.loadedDataConverter, given?.payloads, context);

/** The error that a failure of the server's API stands for. Throws PayloadDecryptionError where its type is nobody's word. */
export const errorOf = (
  client: Client,
  failure: ProtoFailure | null | undefined,
  context: SerializationContext,
): Promise<Error | undefined> =>
  decodeOptionalFailureToOptionalError(client.workflow.options.loadedDataConverter, failure, context);

/** Waits for the event that closes a run. Throws the SDK's WorkflowNotFoundError, and what a deadline around it throws. */
async function awaitClosingEvent(client: Client, { workflowId, runId }: RunName): Promise<HistoryEvent> {
  let nextPageToken: Uint8Array | undefined;
  for (;;) {
    const answer = await client.workflowService
      .getWorkflowExecutionHistory({
        namespace: client.options.namespace,
        execution: { workflowId, runId },
        historyEventFilterType: HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
        waitNewEvent: true,
        // Looking into an archive as well costs the server a call for each wait.
        skipArchival: true,
        nextPageToken,
      })
      .catch((error: unknown) => {
        const status = grpcStatus(error);
        throw status?.code === GRPC.notFound ? new WorkflowNotFoundError(status.details, workflowId, runId) : error;
      });
    const end = answer.history?.events?.at(-1);
    if (end) return end;
    // The server answers after 20 s that the run is open still, and where to go on waiting.
    nextPageToken = answer.nextPageToken;
  }
}

/** Throws PayloadDecryptionError if a run was ended by what another run, or nobody with the keys, wrote. */
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
    // Runs of before the mark name none.
    if (runs.every((run) => run === undefined || run === runId)) return;
  } catch (error) {
    const isRequired = 'required' in failureConverter && failureConverter.required;
    if (failure && !isRequired && PayloadDecryptionError.is(error) && error.refused === 'unreadable') return;
    throw error;
  }
  throw new PayloadDecryptionError('the workflow was ended with what another run of its id wrote', 'foreign');
}

/** Returns the newest event of a run, without waiting; 'unknown' where Temporal has no such run. */
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
 * Waits for the end of the newest run of an id, or of `runId`. Throws as the SDK's `result` does, and
 * PayloadDecryptionError if it ended with what another run of the id wrote.
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
  // The SDK reads the run's end once more, and words it.
  if (!completed) return client.workflow.result<W>(workflowId, run, { followRuns: false });
  return (await decodeFirst(client, completed.result, ofWorkflow(client, workflowId))) as WorkflowResultType<W>;
}

/** Waits for `started`, which is most likely the newest run. If it did not complete, the newest counts. */
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

/** Returns a result that has this field. Throws PayloadDecryptionError for a copy of anything else. */
export function resultWith<T extends object>(field: keyof T & string, value: T): T {
  if (typeof value === 'object' && value !== null && field in value) return value;
  throw new PayloadDecryptionError('the workflow ended with something that is no result of it', 'foreign');
}
