import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { inlineBytes, MAX_INLINE_BYTES } from '../../contract/batch/input.js';
import { type FieldError, INVALID_INPUT } from '../../contract/failures.js';
import { ACCOUNT_FORMAT, BATCH_ID_FORMAT, batchPlanWorkflowId, batchWorkflowId } from '../../contract/ids.js';
import { holdsCardNumber } from '../../contract/wallets.js';
import { hasTimeLimit, isTooDeep } from '../order/identity.js';
import type { BatchRun } from './batch-run.js';

function refuse(field: string, reason: string): never {
  const errors: FieldError[] = [{ field, reason }];
  throw ApplicationFailure.create({
    type: INVALID_INPUT,
    message: `${field}: ${reason}. Nothing was sent`,
    nonRetryable: true,
    details: [errors],
  });
}

/**
 * Refuses a run whose input and workflow id do not belong together: the id keeps a batch from running twice at a time.
 * Checks just enough to get the input to the plan activity, which validates every field. Throws InvalidInput.
 */
export function checkBatch({ input, account, batchId }: BatchRun): void {
  if (typeof input !== 'object' || input === null) refuse('input', 'must be an object {batchId, file or rows, …}');
  if (isTooDeep(input)) refuse('input', 'is nested too deeply');
  if (typeof account !== 'string' || !ACCOUNT_FORMAT.test(account)) refuse('account', 'must match [a-z0-9-]{1,32}');
  const mayLackId = input.planOnly === true && input.batchId === undefined;
  if (!mayLackId && (typeof batchId !== 'string' || !BATCH_ID_FORMAT.test(batchId))) {
    refuse('batchId', 'must match [A-Za-z0-9._-]{1,120}');
  }
  if (typeof batchId === 'string' && holdsCardNumber(batchId)) {
    refuse('batchId', 'must not hold a card number');
  }
  if (inlineBytes(input) > MAX_INLINE_BYTES) {
    refuse('rows', `are more than ${MAX_INLINE_BYTES} bytes; send them in a file`);
  }
  if (hasTimeLimit()) {
    refuse(
      'workflow',
      'must be started without execution or run time-out and without cron: it would end in the middle',
    );
  }
  checkWorkflowId(input.planOnly === true, account, batchId);
}

function checkWorkflowId(planOnly: boolean, account: string, batchId: string): void {
  const { workflowId } = workflowInfo();
  if (planOnly) {
    const prefix = batchPlanWorkflowId(account, '');
    if (!workflowId.startsWith(prefix)) refuse('planOnly', `needs a workflow id that begins with ${prefix}`);
    return;
  }
  const demanded = batchWorkflowId(account, batchId);
  if (workflowId !== demanded) {
    refuse('batchId', `belongs to the workflow id ${demanded}, not to this one. Start it under that id`);
  }
}
