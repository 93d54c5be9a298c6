import type { Client } from '@temporalio/client';
import type { Payload, ProtoFailure } from '@temporalio/common';
import { callTemporal } from './temporal-calls.js';

/** An open workflow, or a schedule, with payloads that PAYLOAD_ENCRYPTION=required refuses. */
export interface PlainPayloads {
  /** Of the workflow or the schedule. */
  id: string;
  kind: 'workflow' | 'schedule';
  /** Where they stand first, such as `WorkflowExecutionStarted`. */
  at: string;
}

/** Fields that hold what no workflow reads: they are indexed, or written by the SDK about itself. */
const NEVER_ENCRYPTED = [
  'searchAttributes',
  'upsertWorkflowSearchAttributesEventAttributes',
  'header',
  'markerRecordedEventAttributes',
  'workflowTaskFailedEventAttributes',
];

/** The server's own detail of a cancellation. */
const OF_SERVER = '"ACTIVITY_ID_NOT_STARTED"';

const text = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString();

const isPayload = (value: object): value is Payload => 'metadata' in value && 'data' in value;

const isFailure = (value: object): value is ProtoFailure =>
  'applicationFailureInfo' in value && Boolean(value.applicationFailureInfo);

/** True for a message in which something stands that is not encrypted for a workflow. */
function holdsPlain(message: object): boolean {
  if (isPayload(message)) {
    const { metadata, data } = message;
    return !metadata?.['encryption-bound-to'] && text(data) !== OF_SERVER;
  }
  if (isFailure(message) && !message.encodedAttributes) return true;
  return Object.entries(message).some(
    ([name, value]) =>
      typeof value === 'object' &&
      value !== null &&
      !(value instanceof Uint8Array) &&
      !NEVER_ENCRYPTED.includes(name) &&
      holdsPlain(value),
  );
}

/** The first event of an open run with a plain payload. */
async function firstPlain(client: Client, workflowId: string, runId: string): Promise<string | undefined> {
  const handle = client.workflow.getHandle(workflowId, runId);
  const { events } = await callTemporal(client, () => handle.fetchHistory());
  const found = events?.find((event) => holdsPlain(event));
  if (!found) return undefined;
  const attributes = Object.entries(found).find(([name, value]) => name.endsWith('EventAttributes') && value);
  return attributes?.[0].replace(/EventAttributes$/, '') ?? 'event';
}

/** All open workflows and schedules with plain payloads. Reads every open history: minutes where thousands are open. */
export async function plainPayloads(client: Client): Promise<PlainPayloads[]> {
  const found: PlainPayloads[] = [];
  for await (const { workflowId, runId } of client.workflow.list({ query: "ExecutionStatus = 'Running'" })) {
    const at = await firstPlain(client, workflowId, runId);
    if (at) found.push({ id: workflowId, kind: 'workflow', at });
  }
  const { namespace } = client.options;
  for await (const { scheduleId } of client.schedule.list()) {
    const { schedule } = await callTemporal(client, () =>
      client.workflowService.describeSchedule({ namespace, scheduleId }),
    );
    if (holdsPlain(schedule?.action?.startWorkflow?.input ?? {})) {
      found.push({ id: scheduleId, kind: 'schedule', at: 'its action' });
    }
  }
  return found;
}
