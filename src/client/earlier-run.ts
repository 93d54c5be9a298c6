import type { Client } from '@temporalio/client';
import { mayHaveSent } from '../contract/failures.js';
import type { OrderOptions } from '../contract/order/workflow.js';
import { sentToSchema } from '../validation/order-schema.js';
import { decodeAll, readFirstInput, readLastEvent } from './history.js';
import { standingOfEvent } from './standing.js';

/** What the runs before hand on: until when they may have sent, as an ISO time, and where. */
export type SentEarlier = Pick<OrderOptions, 'sentUntil' | 'sentTo'>;

/**
 * What the runs that an order id had may have sent; {}: none of them sent anything. A run that sent nothing itself hands on
 * what it was told of those before it.
 */
export async function sentEarlier(client: Client, workflowId: string): Promise<SentEarlier> {
  const event = await readLastEvent(client, workflowId);
  const end = event === 'unknown' ? undefined : event;
  const standing = standingOfEvent(end);
  // Anything else may have sent until now: somebody else started it again.
  if (standing.kind !== 'noOrder') return { sentUntil: new Date().toISOString() };
  if (mayHaveSent(standing.failure)) {
    const failure = end?.workflowExecutionFailedEventAttributes?.failure?.applicationFailureInfo;
    return { sentUntil: timeOf(end?.eventTime), ...placeIn(await decodeAll(client, failure?.details)) };
  }
  const { input } = await readFirstInput(client, workflowId);
  return isTime(input.sentUntil) ? { sentUntil: input.sentUntil, ...placeIn([input]) } : {};
}

/** Inputs may be anything: only what the new run can read is handed on. */
const isTime = (value: unknown): value is string => typeof value === 'string' && !Number.isNaN(Date.parse(value));

function placeIn(values: readonly unknown[]): Pick<SentEarlier, 'sentTo'> {
  const places = values.map((value) => (typeof value === 'object' && value && 'sentTo' in value ? value.sentTo : null));
  const [sentTo] = places.flatMap((place) => sentToSchema.safeParse(place).data ?? []);
  return sentTo ? { sentTo: sentTo as NonNullable<SentEarlier['sentTo']> } : {};
}

const timeOf = (time: { seconds?: unknown; nanos?: unknown } | null | undefined): string =>
  new Date(Number(time?.seconds ?? 0) * 1_000 + Number(time?.nanos ?? 0) / 1e6).toISOString();
