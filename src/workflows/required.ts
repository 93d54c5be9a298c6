import { ApplicationFailure, type UpdateInput, type WorkflowInterceptors } from '@temporalio/workflow';
import { BATCH_MESSAGES } from '../contract/batch/batch.js';
import { DECIDE_UPDATE, HOLD_UPDATE, RESUME_ACCOUNT_UPDATE, STOP_ACCOUNT_UPDATE } from '../contract/names.js';
import { EncodedFailures } from '../contract/refused.js';

const NAMED: Readonly<Record<string, string>> = {
  [DECIDE_UPDATE]: 'runId',
  [HOLD_UPDATE]: 'runId',
  [STOP_ACCOUNT_UPDATE]: 'runId',
  [RESUME_ACCOUNT_UPDATE]: 'runId',
  [BATCH_MESSAGES.approve]: 'runId',
  [BATCH_MESSAGES.resume]: 'pausedAt',
};

/**
 * Refuses a choice without its run or pause: payloads are bound to a workflow id only, which may
 * have had other runs and pauses.
 */
export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      validateUpdate: (input, next) => {
        refuseUnnamed(input);
        next(input);
      },
      // A program without the keys may have accepted it, without the validator.
      handleUpdate: async (input, next) => {
        refuseUnnamed(input);
        return next(input);
      },
    },
  ],
});

function isUnnamed({ name, args }: UpdateInput): boolean {
  const [choice] = args as Record<string, unknown>[];
  const field = NAMED[name];
  return field !== undefined && (choice?.[field] ?? undefined) === undefined;
}

function refuseUnnamed(input: UpdateInput): void {
  if (!isUnnamed(input)) return;
  const field = `${NAMED[input.name]}`;
  throw ApplicationFailure.nonRetryable(
    `${field}: required where payloads must be encrypted; the state shows it`,
    'Refused',
  );
}

/** Refuses failures that do not pass the codec. */
export const failureConverter = new EncodedFailures(true);
