import {
  defaultPayloadConverter,
  type Payload,
  type PayloadConverter,
  type SerializationContext,
} from '@temporalio/common';
import { refusedIn } from '../contract/refused.js';
import { encodedFailures, PayloadDecryptionError } from '../temporal.js';

/** Throws on refused values, except in an activity's task, where `refuseForeign` reads them. */
export const payloadConverter: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  fromPayload: <T>(payload: Payload, context?: SerializationContext): T => {
    const refused = refusedIn(payload);
    if (!refused) return defaultPayloadConverter.fromPayload(payload);
    if (context?.type === 'activity') return refused as T;
    throw new PayloadDecryptionError(refused.why, refused.kind);
  },
};

/** Failure converter that still reads plain failures. */
export const failureConverter = encodedFailures(false);
