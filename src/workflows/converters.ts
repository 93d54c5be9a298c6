import {
  defaultPayloadConverter,
  type Payload,
  type PayloadConverter,
  type SerializationContext,
  str,
} from '@temporalio/common';
import { markGivenTwice } from '../contract/json.js';
import { Refused, refusedIn } from '../contract/refused.js';

/** Encodings of codecs that the worker lacks. */
const CODEC_ENCODING = /encrypt|compress/;

/** Marks the input of an activity, which must never pass for its answer. */
export const ASKED = 'asked-by-workflow';

/**
 * Payload converter of workflow code. Bytes that are no JSON become undefined, because a failure
 * here would fail every workflow task of the order; refused payloads become `Refused`.
 */
export const payloadConverter: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  fromPayload: <T>(payload: Payload, context?: SerializationContext): T => {
    const refused = refusedIn(payload) ?? ownQuestion(payload, context);
    if (refused) return refused as T;
    try {
      const value = defaultPayloadConverter.fromPayload<T>(payload);
      // Workers write the answers of activities.
      return context?.type === 'workflow' && payload.data ? markGivenTwice(value, str(payload.data)) : value;
    } catch (error) {
      if (CODEC_ENCODING.test(encodingOf(payload))) throw error;
      return undefined as T;
    }
  },
};

function ownQuestion({ metadata }: Payload, context?: SerializationContext): Refused | undefined {
  if (context?.type !== 'activity' || !metadata?.[ASKED]) return undefined;
  return new Refused('foreign', 'the activity was answered with its own input');
}

const encodingOf = ({ metadata }: Payload): string => (metadata?.encoding ? str(metadata.encoding) : '');
