import type { Client } from '@temporalio/client';
import { GRPC, grpcStatus } from '../temporal/grpc-status.js';
import { callTemporal } from './temporal-calls.js';

/**
 * The newest event of the newest run of a workflow id: of a closed run, how and when it was closed; 'unknown' where Temporal
 * has no such run. One call that does not wait: the filter for the closing event would wait 20 s for an open run's.
 */
export async function readLastEvent(client: Client, workflowId: string) {
  try {
    const { history } = await callTemporal(client, () =>
      client.workflowService.getWorkflowExecutionHistoryReverse({
        namespace: client.options.namespace,
        execution: { workflowId },
        maximumPageSize: 1,
      }),
    );
    return history?.events?.[0];
  } catch (error) {
    if (grpcStatus(error)?.code === GRPC.notFound) return 'unknown';
    throw error;
  }
}
