import { defaultPayloadConverter } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';

const { EventType } = proto.temporal.api.enums.v1;

/** Shapes of the server's and the core's interface that the engine speaks. */
export type Payload = proto.temporal.api.common.v1.IPayload;
export type Failure = proto.temporal.api.failure.v1.IFailure;
export type HistoryEvent = proto.temporal.api.history.v1.IHistoryEvent;
export type Job = proto.coresdk.workflow_activation.IWorkflowActivationJob;
export type Command = proto.coresdk.workflow_commands.IWorkflowCommand;
export type Fields = Record<string, Payload>;
export type EventName = keyof typeof EventType;

type Duration = proto.google.protobuf.IDuration | null | undefined;

/** The one namespace of the engine. */
export const NAMESPACE = 'default';

/** A time (ms since the epoch) as a timestamp. */
export const timestamp = (ms: number): proto.google.protobuf.ITimestamp => msToTs(Math.floor(ms));

/** Milliseconds of a duration; undefined for none and for 0, which is none. */
export const durationMs = (duration: Duration): number | undefined =>
  duration ? Number(duration.seconds ?? 0) * 1_000 + (duration.nanos ?? 0) / 1e6 || undefined : undefined;

/** A value as workflows and clients write it. */
export const encode = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);

/** The value of a payload. */
export const decode = (payload: Payload | null | undefined): unknown =>
  payload ? defaultPayloadConverter.fromPayload(payload as never) : undefined;

/** An event as histories have it. `id` and time are the run's. */
export const eventOf = (id: number, ms: number, name: EventName, attributes: object = {}): HistoryEvent => ({
  eventId: id as never,
  eventTime: timestamp(ms),
  eventType: EventType[name],
  [`${name
    .replace(/^EVENT_TYPE_/, '')
    .toLowerCase()
    .replace(/_(\w)/g, (_, letter) => letter.toUpperCase())}EventAttributes`]: attributes,
});

const CODES: Record<number, string> = {
  ...{ 1: 'CANCELLED', 3: 'INVALID_ARGUMENT', 4: 'DEADLINE_EXCEEDED', 5: 'NOT_FOUND', 6: 'ALREADY_EXISTS' },
  ...{ 9: 'FAILED_PRECONDITION', 12: 'UNIMPLEMENTED' },
};

/** An error as gRPC gives it to a client. */
export class GrpcError extends Error {
  readonly metadata = { get: () => [] };

  constructor(
    readonly code: number,
    readonly details: string,
  ) {
    super(`${code} ${CODES[code]}: ${details}`);
  }
}

export const notFound = (what: string): GrpcError => new GrpcError(5, what);

/** Why a workflow or activity was cancelled, as core writes it. */
export const cancelledFailure: Failure = { message: 'cancelled', source: 'engine', canceledFailureInfo: {} };
