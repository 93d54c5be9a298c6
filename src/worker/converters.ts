import { defaultPayloadConverter, type PayloadConverter } from '@temporalio/common';
import { refusedIn } from '../contract/refused.js';
import { encodedFailures, PayloadDecryptionError } from '../temporal.js';

/** Payload converter of activities and their clients: what the codec refused is an error, and nothing is done with it. */
export const payloadConverter: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  fromPayload: (payload) => {
    const refused = refusedIn(payload);
    if (refused) throw new PayloadDecryptionError(refused.why, refused.kind);
    return defaultPayloadConverter.fromPayload(payload);
  },
};

/** Their failure converter where plain failures are read still. */
export const failureConverter = encodedFailures(false);
