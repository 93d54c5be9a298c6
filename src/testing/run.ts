import { type ApplicationFailure, defaultPayloadConverter, type Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { Standing } from '../client/standing.js';
import { isOrderFailure } from '../contract/failures.js';
import { DEFAULT_ACCOUNT } from '../contract/names.js';
import type { OrderResult } from '../contract/order/input-and-result.js';
import type { OrderState } from '../contract/order/messages.js';

const { WorkflowExecutionStatus } = proto.temporal.api.enums.v1;

/** A run of a workflow. `begun`: a worker has taken it; `served`: and one with its account. */
export interface Run {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  readonly input: unknown;
  readonly payload: Payload | undefined;
  readonly requestId: string;
  readonly startedAt: Date;
  begun: boolean;
  served: boolean;
  cancelled: boolean;
  attributes: Record<string, Payload>;
  closed?: { status: keyof typeof CLOSED; at: Date; event: object };
}

export const accountOf = ({ input }: Run): string => Object(input).account ?? DEFAULT_ACCOUNT;

const CLOSED = {
  Completed: WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_COMPLETED,
  Failed: WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_FAILED,
  Terminated: WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_TERMINATED,
};
export const payloads = (value: unknown) => ({ payloads: [defaultPayloadConverter.toPayload(value)] });
export const decoded = (payload: Payload | undefined): unknown =>
  payload && defaultPayloadConverter.fromPayload(payload);

export const timestamp = (at: Date) => ({
  seconds: Math.floor(at.getTime() / 1_000),
  nanos: (at.getTime() % 1_000) * 1e6,
});

/** Returns the place in lists, as text: open runs come first, then the newest. */
export const placeOf = ({ closed, startedAt }: Run): string =>
  `${closed?.at.toISOString() ?? '9'} ${startedAt.toISOString()}`;

/** Returns the fields by which lists select. */
export const rowOf = ({ workflowId, type, startedAt, closed, attributes }: Run): Record<string, unknown> => ({
  ...Object.fromEntries(Object.entries(attributes).map(([name, payload]) => [name, decoded(payload)])),
  WorkflowId: workflowId,
  WorkflowType: type,
  ExecutionStatus: closed?.status ?? 'Running',
  StartTime: startedAt,
  CloseTime: closed?.at,
});

export const infoOf = ({ workflowId, runId, type, startedAt, closed, attributes }: Run) =>
  proto.temporal.api.workflow.v1.WorkflowExecutionInfo.fromObject({
    execution: { workflowId, runId },
    type: { name: type },
    startTime: timestamp(startedAt),
    closeTime: closed && timestamp(closed.at),
    status: closed ? CLOSED[closed.status] : WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING,
    historyLength: closed ? 2 : 1,
    searchAttributes: { indexedFields: attributes },
  });

export function eventsOf({ type, payload, startedAt, closed }: Run): object[] {
  const started = { workflowType: { name: type }, input: { payloads: payload && [payload] } };
  const first = { eventTime: timestamp(startedAt), workflowExecutionStartedEventAttributes: started };
  return closed ? [first, closed.event] : [first];
}

/** Wire numbers of gRPC statuses. */
const CODES = { cancelled: 1, deadlineExceeded: 4, notFound: 5, alreadyExists: 6, unavailable: 14 };

export const grpcError = (status: keyof typeof CODES, details: string): Error =>
  Object.assign(new Error(details), { code: CODES[status], details, metadata: new Map() });

/** Parts of an order on which its standing depends. */
interface Kept {
  phase: OrderState['phase'];
  result?: OrderResult;
  failure?: ApplicationFailure;
}

/** Returns how an order stands. */
export function standingOf({ closed }: Run, order: Kept | undefined): Standing {
  if (closed?.status === 'Terminated') return { kind: 'unresolved', how: 'terminated' };
  if (!closed) {
    const { phase } = order ?? {};
    return phase === 'parked' || phase === 'uncertain' ? { kind: 'open', waits: phase } : { kind: 'open' };
  }
  if (order?.result) return { kind: 'completed', result: order.result };
  const type = order?.failure?.type;
  return isOrderFailure(type) ? { kind: 'noOrder', failure: type } : { kind: 'unresolved', how: 'closed' };
}
