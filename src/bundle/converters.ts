import {
  defaultPayloadConverter,
  type Payload,
  type PayloadConverter,
  type SerializationContext,
} from '@temporalio/common';
import { refusedIn } from '../contract/refused.js';
import { encodedFailures, PayloadDecryptionError } from '../temporal.js';

/** Throws on what the codec refused, except in an activity's task: `refuseForeign` reads that. */
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
