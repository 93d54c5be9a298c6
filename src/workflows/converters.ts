import {
  defaultPayloadConverter,
  type Payload,
  type PayloadConverter,
  type SerializationContext,
  str,
} from '@temporalio/common';
import { markGivenTwice } from '../contract/given-twice.js';
import { Refused, refusedIn } from '../contract/refused.js';

/** Encodings of codecs that the worker lacks: whoever reads that must fail, not guess. */
const CODEC_ENCODING = /encrypt|compress/;

/** Marks what a workflow hands to an activity: its own question must never pass for the answer. */
export const ASKED = 'asked-by-workflow';

/**
 * Payload converter of workflow code. Anybody who may signal or start workflows can send bytes that are no JSON; the SDK
 * decodes them before any code of ours runs, and a failure there fails the workflow task again and again: the order would
 * be stuck for good. Undecodable values arrive as undefined instead, which every reader of outside values expects, and what
 * the codec refused as `Refused`, which the interceptors look for.
 */
export const payloadConverter: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  fromPayload: <T>(payload: Payload, context?: SerializationContext): T => {
    const refused = refusedIn(payload) ?? ownQuestion(payload, context);
    if (refused) return refused as T;
    try {
      const value = defaultPayloadConverter.fromPayload<T>(payload);
      // What activities answer is written by a worker.
      return context?.type === 'workflow' && payload.data ? markGivenTwice(value, payload.data, str) : value;
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
