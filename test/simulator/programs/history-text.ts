import { defaultFailureConverter, defaultPayloadConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { textOf } from './texts.js';

type HistoryEvent = proto.temporal.api.history.v1.IHistoryEvent;

const { EventType, RetryState } = proto.temporal.api.enums.v1;

/** A history's events by kind, with what sets one of a kind apart: no workflow tasks, times or ids of events and runs. */
export const historyText = (events: readonly HistoryEvent[]): string[] =>
  events.flatMap((event) => {
    const kind = (EventType[event.eventType ?? 0] ?? '').replace('EVENT_TYPE_', '');
    return kind.startsWith('WORKFLOW_TASK_') ? [] : [[kind, ...aboutOf(event)].join(' ')];
  });

/** The attributes of an event. */
const attributesOf = (event: HistoryEvent): Record<string, unknown> =>
  Object(Object.entries(event).find(([key, value]) => key.endsWith('EventAttributes') && value)?.[1]);

function aboutOf(event: HistoryEvent): string[] {
  const attributes = attributesOf(event);
  const { attempt, lastFailure, failure, retryState, timerId, signalName, markerName, outcome, acceptedRequest } =
    attributes;
  const { workflowId, workflowExecution, request, parentWorkflowExecution } = attributes;
  const isAttempt = event.activityTaskStartedEventAttributes != null;
  const meta = Object(acceptedRequest ?? request).meta ?? Object(attributes.meta);
  const about = {
    attempt: isAttempt ? attempt : undefined,
    timerId: event.timerStartedEventAttributes ? undefined : timerId,
    ...{ signalName, markerName, updateId: meta.updateId },
    workflowId: Object(workflowExecution).workflowId || workflowId,
    parent: Object(parentWorkflowExecution).workflowId,
    failure: failureText(failure ?? lastFailure ?? Object(outcome).failure),
    retryState: retryState ? RetryState[Number(retryState)]?.replace('RETRY_STATE_', '') : undefined,
    input: isAttempt ? undefined : payloadsText(attributes.input ?? attributes.result ?? Object(outcome).success),
  };
  return Object.entries(about)
    .filter(([, value]) => value)
    .map(([key, value]) => `${key}=${value}`);
}

const failureText = (failure: unknown): string | undefined =>
  failure ? textOf(defaultFailureConverter.failureToError(failure as never, defaultPayloadConverter)) : undefined;

const payloadsText = (given: unknown): string | undefined => {
  const payloads = Object(given).payloads as never[] | undefined;
  return payloads?.length
    ? JSON.stringify(payloads.map((one) => defaultPayloadConverter.fromPayload(one) ?? null))
    : undefined;
};
