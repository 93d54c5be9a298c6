import type { Client } from '@temporalio/client';
import type { OrderInput } from '../contract/orders.js';

/** How a run was started: what its first history event keeps. */
export interface FirstInput {
  workflowType: string;
  /** Unchecked: runs may be started from anywhere. */
  input: OrderInput;
}

/** Reads how the newest run of a workflow id was started; closed runs too, as long as the namespace keeps them. */
export async function readFirstInput(client: Client, workflowId: string): Promise<FirstInput> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId },
    maximumPageSize: 1,
  });
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  const { payloadCodecs, payloadConverter } = client.workflow.options.loadedDataConverter;
  let payloads = started?.input?.payloads ?? [];
  for (const codec of payloadCodecs.toReversed()) payloads = await codec.decode(payloads);
  const input = payloads[0] ? payloadConverter.fromPayload<OrderInput>(payloads[0]) : undefined;
  // A run without any argument compares as one that asks for nothing.
  return { workflowType: started?.workflowType?.name ?? '', input: input ?? ({} as OrderInput) };
}
