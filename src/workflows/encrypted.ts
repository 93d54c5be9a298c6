import { defaultPayloadConverter, type PayloadConverter, u8 } from '@temporalio/common';
import { type WorkflowInterceptors, workflowInfo } from '@temporalio/workflow';
import { EncodedFailures } from '../contract/encoded-failures.js';
import { searchAttribute } from '../contract/names.js';
import { writtenIn } from '../contract/written-in.js';
import { ASKED, payloadConverter as plain } from './converters.js';

/**
 * Where payloads are encrypted no amount stands beside them in the clear: lists then show why a person is wanted and since when, and
 * the page how much.
 */
export const interceptors = (): WorkflowInterceptors => ({
  internals: [
    {
      concludeActivation: (input, next) => {
        for (const { upsertWorkflowSearchAttributes: upsert } of input.commands) {
          delete upsert?.searchAttributes?.indexedFields?.[searchAttribute.amount.name];
        }
        return next(input);
      },
    },
  ],
});

/**
 * What a workflow writes is marked, so that nobody without the keys can hand it back as something else. In plain payloads anybody
 * could write the marks as well.
 */
export const payloadConverter: PayloadConverter = {
  toPayload: (value, context) => {
    const payload = defaultPayloadConverter.toPayload(value);
    // A result or a failure ends this run only, and not the next one of its id.
    if (context?.type === 'workflow') return writtenIn(workflowInfo().runId, payload);
    if (context?.type !== 'activity') return payload;
    return { ...payload, metadata: { ...payload.metadata, [ASKED]: u8('1') } };
  },
  fromPayload: plain.fromPayload,
};

/** Messages and stack traces, which may tell amounts, pass the codec; types stay readable. */
export const failureConverter = new EncodedFailures(false);
