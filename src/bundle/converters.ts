import {
  defaultPayloadConverter,
  type Payload,
  type PayloadConverter,
  type SerializationContext,
} from '@temporalio/common';
import { refusedIn } from '../contract/refused.js';
import { encodedFailures, PayloadDecryptionError } from '../temporal.js';

/**
 * Payload converter of activities and their clients: what the codec refused is an error, and nothing is done with it. What an
 * activity's task carries is marked instead, for `refuseForeign`: its heartbeat must not fail every attempt after it.
 */
export const payloadConverter: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  fromPayload: <T>(payload: Payload, context?: SerializationContext): T => {
    const refused = refusedIn(payload);
    if (!refused) return defaultPayloadConverter.fromPayload(payload);
    if (context?.type === 'activity') return refused as T;
    throw new PayloadDecryptionError(refused.why, refused.kind);
  },
};

/** Their failure converter where plain failures are read still. */
export const failureConverter = encodedFailures(false);
