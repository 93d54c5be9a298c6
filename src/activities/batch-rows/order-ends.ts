import { type Client, isGrpcServiceError } from '@temporalio/client';
import { decodeFromPayloadsAtIndex } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { BatchOutcomes } from '../../contract/batches.js';
import { isOrderFailure } from '../../contract/failures.js';
import type { OrderResult } from '../../contract/orders.js';

/** `HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT` of the Temporal API. */
const CLOSE_EVENT = 2;
const GRPC_NOT_FOUND = 5;

/** What became of an order's workflow. 'lost': it is closed, or gone, without a verdict; the order may exist. */
export type OrderEnd =
  | { kind: 'open' }
  | { kind: 'final'; result: OrderResult }
  | { kind: 'none'; outcome: Extract<keyof BatchOutcomes, 'refused' | 'conflict'> }
  | { kind: 'lost'; reason: string };

/** Reads how the newest run of an order ended, in one call that does not wait and needs no worker. */
export async function readOrderEnd(client: Client, workflowId: string): Promise<OrderEnd> {
  const { options, workflow } = client;
  const history = await client.workflowService
    .getWorkflowExecutionHistory({
      namespace: options.namespace,
      execution: { workflowId },
      historyEventFilterType: CLOSE_EVENT,
    })
    .then((answer) => answer.history)
    .catch(gone);
  const event = history?.events?.[0];
  if (history === undefined) return { kind: 'lost', reason: 'Temporal does not know its workflow any more' };
  if (!event) return { kind: 'open' };
  const { workflowExecutionCompletedEventAttributes: completed, workflowExecutionFailedEventAttributes: failed } =
    event;
  if (completed) {
    const payloads = completed.result?.payloads;
    const result = await decodeFromPayloadsAtIndex<OrderResult>(workflow.options.loadedDataConverter, 0, payloads);
    return { kind: 'final', result };
  }
  return failed ? endOfFailure(failed.failure?.applicationFailureInfo?.type) : terminated();
}

function endOfFailure(type: string | null | undefined): OrderEnd {
  if (!isOrderFailure(type)) return { kind: 'lost', reason: `its workflow failed as ${type ?? 'something else'}` };
  return { kind: 'none', outcome: type === 'OrderConflict' ? 'conflict' : 'refused' };
}

const terminated = (): OrderEnd => ({ kind: 'lost', reason: 'its workflow was terminated' });

function gone(error: unknown): undefined {
  if (isGrpcServiceError(error) && error.code === GRPC_NOT_FOUND) return undefined;
  throw error;
}
