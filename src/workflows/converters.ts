import {
  defaultPayloadConverter,
  type Payload,
  type PayloadConverter,
  type SerializationContext,
} from '@temporalio/common';
import { decode, encode } from '@temporalio/common/lib/encoding.js';
import { workflowInfo } from '@temporalio/workflow';
import { EncodedFailures } from '../contract/encoded-failures.js';
import { Refused, refusedIn } from '../contract/refused.js';
import { writtenIn } from '../contract/written-in.js';

/** Encodings of codecs that the worker lacks: whoever reads that must fail, not guess. */
const CODEC_ENCODING = /encrypt|compress/;

/** Marks what a workflow hands to an activity: its own question must never pass for the answer. */
const ASKED = 'asked-by-workflow';

/**
 * Payload converter of workflow code. Anybody who may signal or start workflows can send bytes that are no JSON; the SDK
 * decodes them before any code of ours runs, and a failure there fails the workflow task again and again: the order would
 * be stuck for good. Undecodable values arrive as undefined instead, which every reader of outside values expects, and what
 * the codec refused as `Refused`, which the interceptors look for.
 */
export const payloadConverter: PayloadConverter = {
  toPayload: (value, context) => {
    const payload = defaultPayloadConverter.toPayload(value);
    // A result or a failure ends this run only, and not the next one of its id.
    if (context?.type === 'workflow') return writtenIn(workflowInfo().runId, payload);
    if (context?.type !== 'activity') return payload;
    return { ...payload, metadata: { ...payload.metadata, [ASKED]: encode('1') } };
  },
  fromPayload: <T>(payload: Payload, context?: SerializationContext): T => {
    const refused = refusedIn(payload) ?? ownQuestion(payload, context);
    if (refused) return refused as T;
    try {
      return defaultPayloadConverter.fromPayload<T>(payload);
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

const encodingOf = ({ metadata }: Payload): string => (metadata?.encoding ? decode(metadata.encoding) : '');

/** For workers that encrypt: messages and stack traces, which may tell amounts, pass the codec; types stay readable. */
export const failureConverter = new EncodedFailures(false);
