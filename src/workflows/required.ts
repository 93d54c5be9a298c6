import { ApplicationFailure, type UpdateInput, type WorkflowInterceptors } from '@temporalio/workflow';
import { BATCH_MESSAGES } from '../contract/batch/messages.js';
import { EncodedFailures } from '../contract/encoded-failures.js';
import { DECIDE_UPDATE } from '../contract/names.js';

/** What a choice names so that no copy of it counts elsewhere. */
const NAMED: Readonly<Record<string, string>> = {
  [DECIDE_UPDATE]: 'runId',
  [BATCH_MESSAGES.approve]: 'runId',
  [BATCH_MESSAGES.resume]: 'pausedAt',
};

/**
 * With PAYLOAD_ENCRYPTION=required a choice must name what it was made on: payloads are bound to a workflow id, which may have had
 * more runs, and more pauses. Others may leave it out, as programs of before do.
 */
export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      validateUpdate: (input, next) => {
        refuseUnnamed(input);
        next(input);
      },
      // Whoever answers workflow tasks without the keys can accept an update that no validator of ours has seen.
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

/** A failure that does not pass the codec is nobody's word. */
export const failureConverter = new EncodedFailures(true);
