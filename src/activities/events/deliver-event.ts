import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import { eventHeaders, eventKeyOf } from '../../contract/event-signature.js';
import type { DeliverEventInput } from '../../contract/events.js';
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
    if (typeof answer === 'number' && answer >= 200 && answer <= 299) return;
    throw failed(typeof answer === 'number' ? `HTTP ${answer}` : answer);
  };

const failed = (why: string): ApplicationFailure =>
  ApplicationFailure.create({ type: 'NotDelivered', message: `not delivered: ${why}` });
