import type { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import type { OrderInput } from '../contract/order/input-and-result.js';
import { GRPC, grpcStatus } from '../temporal.js';
import { callTemporal } from './temporal-calls.js';

/** How the newest run of a workflow id was started, closed or not; the input is unchecked: anybody may have started it. */
export async function readFirstInput<I = OrderInput>(client: Client, workflowId: string) {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId },
    maximumPageSize: 1,
  });
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  const input = await decodeFirst<I>(client, started?.input);
  // A run without any argument compares as one that asks for nothing.
  return { workflowType: started?.workflowType?.name ?? '', input: input ?? ({} as I) };
}

type Payloads = { payloads?: Payload[] | null } | null | undefined;

/** The first of some payloads that the server handed out as they are; undefined when there is none. */
export async function decodeFirst<T>(client: Client, given: Payloads): Promise<T | undefined> {
  const [first] = await decodeAll(client, given);
  return first as T | undefined;
}

/** Payloads that the server handed out as they are. */
export async function decodeAll(client: Client, given: Payloads): Promise<unknown[]> {
  const { payloadCodecs, payloadConverter } = client.workflow.options.loadedDataConverter;
  let payloads = given?.payloads ?? [];
  for (const codec of payloadCodecs.toReversed()) payloads = await codec.decode(payloads);
  return payloads.map((payload) => payloadConverter.fromPayload<unknown>(payload));
}

/**
 * The newest event of the newest run of a workflow id, or of `runId`: of a closed run, how and when it was closed; 'unknown'
 * where Temporal has no such run. Asked without the filter for the closing event, which would wait 20 s on an open run.
 */
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
