import type { WorkflowInterceptors } from '@temporalio/workflow';
import { searchAttribute } from '../contract/names.js';

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
