import {
  DefaultFailureConverter,
  defaultPayloadConverter,
  type Payload,
  type PayloadConverter,
} from '@temporalio/common';
import { decode } from '@temporalio/common/lib/encoding.js';

/** What a codec marked as unreadable, and encodings of codecs that the worker lacks: whoever reads that must fail, not guess. */
const CODEC_ENCODING = /^unreadable: |encrypt|compress/;

/**
 * Payload converter of workflow code. Anybody who may signal or start workflows can send bytes that are no JSON; the SDK
 * decodes them before any code of ours runs, and a failure there fails the workflow task again and again: the order would
 * be stuck for good. Undecodable values arrive as undefined instead, which every reader of outside values expects.
 */
export const payloadConverter: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  fromPayload: <T>(payload: Payload): T => {
    try {
      return defaultPayloadConverter.fromPayload<T>(payload);
    } catch (error) {
      if (CODEC_ENCODING.test(encodingOf(payload))) throw error;
      return undefined as T;
    }
  },
};

const encodingOf = ({ metadata }: Payload): string => (metadata?.encoding ? decode(metadata.encoding) : '');

/** For workers that encrypt: messages and stack traces, which may tell amounts, pass the codec; types stay readable. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
