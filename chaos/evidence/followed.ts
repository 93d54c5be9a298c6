import { defaultPayloadConverter, type PayloadCodec } from '@temporalio/common';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { optionalTsToMs, tsToMs } from '@temporalio/common/lib/time.js';
import { ORDER_CALLBACK_SIGNAL } from '../../src/contract/names.js';
import type { OrderResult } from '../../src/contract/order/input-and-result.js';
import type { FollowedOrder } from './evidence.js';

type Event = NonNullable<History['events']>[number];

/** Name of the activity that sends creates. */
const CREATE_ACTIVITY = 'createOrder';

/** Ends that are no verdict, by the attributes of their event. */
const OTHER_ENDS = {
  workflowExecutionTerminatedEventAttributes: 'terminated',
  workflowExecutionTimedOutEventAttributes: 'timed out',
  workflowExecutionCanceledEventAttributes: 'canceled',
  workflowExecutionContinuedAsNewEventAttributes: 'continued as new',
} as const;

/** Reads out of a history, as it is stored, what became of its order. */
export async function followedOrder(orderId: string, { events }: History, codec: PayloadCodec): Promise<FollowedOrder> {
  const all = events ?? [];
  const signalsAtMs = all
    .filter((event) => event.workflowExecutionSignaledEventAttributes?.signalName === ORDER_CALLBACK_SIGNAL)
    .map(({ eventTime }) => tsToMs(eventTime));
  const seen = { orderId, signalsAtMs, createsCutOff: createsCutOff(all) };
  const last = all.at(-1);
  const end = last && (await endOf(last, codec));
  if (!end) return { ...seen, end: 'open' };
  return { ...seen, ...end, endedAtMs: optionalTsToMs(last.eventTime) };
}

function createsCutOff(events: readonly Event[]): number {
  const creates = new Set(
    events
      .filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === CREATE_ACTIVITY)
      .map(({ eventId }) => String(eventId)),
  );
  return events.filter(({ activityTaskTimedOutEventAttributes: timedOut }) =>
    creates.has(String(timedOut?.scheduledEventId)),
  ).length;
}

async function endOf(
  event: Event,
  codec: PayloadCodec,
): Promise<Pick<FollowedOrder, 'end' | 'result' | 'failureType'> | undefined> {
  const completed = event.workflowExecutionCompletedEventAttributes;
  if (completed) {
    const [payload] = await codec.decode(completed.result?.payloads ?? []);
    return { end: 'completed', result: payload && defaultPayloadConverter.fromPayload<OrderResult>(payload) };
  }
  const failure = event.workflowExecutionFailedEventAttributes?.failure;
  if (failure) return { end: 'failed', failureType: failure.applicationFailureInfo?.type ?? 'no type' };
  const other = Object.entries(OTHER_ENDS).find(([attributes]) => event[attributes as keyof typeof OTHER_ENDS]);
  return other && { end: other[1] };
}
