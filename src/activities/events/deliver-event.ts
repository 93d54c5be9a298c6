import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import { eventHeaders, eventKeyOf } from '../../contract/event-signature.js';
import { type DeliverEventInput, RECEIVER_GONE } from '../../contract/events.js';
import { outgoingEvent } from '../../shapes/event-schemas.js';
import type { ActivityDeps } from '../deps.js';
import { validInput } from '../failures.js';
import { post } from './post-event.js';

/** Shape of what is signed, so that no other text gets out. */
const inputSchema = z.strictObject({ receiver: z.string(), event: outgoingEvent });

/** Sends one signed event to one receiver. Fails, to be repeated, unless the answer is 2xx. */
export const deliverEventActivity = (deps: Pick<ActivityDeps, 'receivers'>) =>
  async function deliverEvent(input: DeliverEventInput): Promise<void> {
    const { receiver: name, event } = validInput(inputSchema, input);
    const receiver = deps.receivers?.get(name);
    if (!receiver) throw failed(`this worker has no receiver ${name}`);
    const { id, ...shown } = event;
    const body = Buffer.from(JSON.stringify(shown));
    const keys = receiver.secrets.flatMap((secret) => eventKeyOf(secret.reveal()) ?? []);
    const headers = eventHeaders(id, body, keys, Date.now());
    const target = { url: new URL(receiver.url.reveal()), allowPrivate: receiver.allowPrivate === true };
    const answer = await post(target, headers, body);
    if (typeof answer === 'string') throw failed(answer);
    const { status, retryAfter } = answer;
    if (status >= 200 && status <= 299) return;
    const why = status === 410 ? 'HTTP 410, so the receiver wants no more events' : `HTTP ${status}`;
    // A test shows its last attempt, and ends nothing.
    if (status === 410 && event.type !== 'test')
      throw ApplicationFailure.nonRetryable(`not delivered: ${why}`, RECEIVER_GONE);
    throw failed(why, heldMs(retryAfter));
  };

/** A receiver cannot hold an event for longer than a day. */
const MOST_HELD_MS = 86_400_000;

/** Returns how long a Retry-After header holds the next attempt; undefined without a valid one. */
function heldMs(header = ''): number | undefined {
  const ms = /^\d+$/.test(header) ? 1_000 * Number(header) : Date.parse(header) - Date.now();
  return ms > 0 ? Math.min(Math.ceil(ms), MOST_HELD_MS) : undefined;
}

const failed = (why: string, nextRetryDelay?: number): ApplicationFailure =>
  ApplicationFailure.create({
    ...{ type: 'NotDelivered', message: `not delivered: ${why}` },
    ...(nextRetryDelay !== undefined && { nextRetryDelay }),
  });
