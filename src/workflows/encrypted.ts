import { defaultPayloadConverter, type PayloadConverter, u8 } from '@temporalio/common';
import { type WorkflowInterceptors, workflowInfo } from '@temporalio/workflow';
import { searchAttribute } from '../contract/names.js';
import { EncodedFailures, writtenIn } from '../contract/refused.js';
import { ASKED, payloadConverter as plain } from './converters.js';

/** Leaves amounts out of search attributes, which are never encrypted. */
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

/** Marks what a workflow writes: nobody without the keys can return it as something else. */
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

/** Encrypts messages and stack traces, which may contain amounts. Types stay readable. */
export const failureConverter = new EncodedFailures(false);
