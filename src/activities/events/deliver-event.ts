import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import { eventHeaders, eventKeyOf } from '../../contract/event-signature.js';
import { type DeliverEventInput, GONE, NOT_DELIVERED, RECEIVER_GONE } from '../../contract/events.js';
import { outgoingEvent } from '../../shapes/event-schemas.js';
import type { ActivityDeps } from '../deps.js';
import { validInput } from '../failures.js';
import { GoneReceivers } from './gone-receivers.js';
import { post } from './post-event.js';

/** Shape of what is signed, so that no other text gets out. */
const inputSchema = z.strictObject({
  receiver: z.string(),
  event: outgoingEvent,
  byPerson: z.literal(true).optional(),
});

/** Sends one signed event to one receiver. Fails, to be repeated, unless the answer is 2xx. */
export const deliverEventActivity = (
  deps: Pick<ActivityDeps, 'receivers' | 'post'>,
  goneReceivers: Pick<GoneReceivers, 'isGone' | 'end' | 'resume'> = new GoneReceivers(),
) =>
  async function deliverEvent(input: DeliverEventInput): Promise<void> {
    const { receiver: name, event, byPerson } = validInput(inputSchema, input);
    const receiver = deps.receivers?.get(name);
    if (!receiver) throw failed(`this worker has no receiver ${name}`);
    // A test shows its last attempt, and ends nothing.
    const isTest = event.type === 'test';
    if (!isTest && !byPerson && (await goneReceivers.isGone(name))) throw gone();
    const { id, ...shown } = event;
    const body = Buffer.from(JSON.stringify(shown));
    const keys = receiver.secrets.flatMap((secret) => eventKeyOf(secret.reveal()) ?? []);
    const headers = eventHeaders(id, body, keys, Date.now());
    const target = { url: new URL(receiver.url.reveal()), allowPrivate: receiver.allowPrivate === true };
    const answer = await (deps.post ?? post)(target, headers, body);
    if (typeof answer === 'string') throw failed(answer);
    const { status, retryAfter } = answer;
    if (status >= 200 && status <= 299) return byPerson && goneReceivers.resume(name);
    if (status !== 410) throw failed(`HTTP ${status}`, heldMs(retryAfter));
    if (isTest) throw failed(GONE);
    await goneReceivers.end(name, event);
    throw gone();
  };

const gone = (): ApplicationFailure => ApplicationFailure.nonRetryable(`not delivered: ${GONE}`, RECEIVER_GONE);

/** A receiver cannot hold an event for longer than a day. */
const MOST_HELD_MS = 86_400_000;

/** Returns how long a Retry-After header holds the next attempt; undefined without a valid one. */
function heldMs(header = ''): number | undefined {
  const ms = /^\d+$/.test(header) ? 1_000 * Number(header) : Date.parse(header) - Date.now();
  return ms > 0 ? Math.min(Math.ceil(ms), MOST_HELD_MS) : undefined;
}

const failed = (why: string, nextRetryDelay?: number): ApplicationFailure =>
  ApplicationFailure.create({
    ...{ type: NOT_DELIVERED, message: `not delivered: ${why}` },
    ...(nextRetryDelay !== undefined && { nextRetryDelay }),
  });
