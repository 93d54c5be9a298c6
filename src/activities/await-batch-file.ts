import { activityInfo, getClient } from '@temporalio/activity';
import { WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { BatchFileError, openBatchSource } from '../batch-files/index.js';
import type { AwaitBatchFileInput, PeriodBatch } from '../contract/batch-activities.js';
import { validateScheduledBatchInput } from '../contract/batch-schema.js';
import { BATCH_FILE_UNUSABLE, type ScheduledBatchInput } from '../contract/batches.js';
import { INVALID_INPUT } from '../contract/failures.js';
import { batchWorkflowId, DEFAULT_ACCOUNT, periodBatchId } from '../contract/ids.js';
import { fileOfPeriod, periodAt } from '../contract/periods.js';
import { batchFailure } from './batch-failures.js';
import type { ActivityDeps } from './deps.js';
import { comeBackIn, invalidInput } from './failures.js';

const DEFAULT_WAIT_MS = 30 * 60_000;
/** Between two looks at a file that is missing. */
const LOOK_EVERY_MS = 10_000;
/** A file that has the same content after this long has stopped growing. */
const LOOKS_APART_MS = 5_000;

/**
 * Waits until the file of a period is there and has stopped growing, and answers with its batch, pinned to the file's
 * hash. Each look is one attempt, so that no slot is held in between. A period that has a batch already waits for
 * nothing. Fails with InvalidInput at once, and with the reason for the last look when the time is over.
 */
export function awaitBatchFileActivity(deps: ActivityDeps) {
  return async function awaitBatchFile({ input: raw, scheduledAt }: AwaitBatchFileInput): Promise<PeriodBatch> {
    const checked = validateScheduledBatchInput(raw);
    if ('errors' in checked) throw invalidInput(checked.errors);
    const batch = batchOf(checked.input, scheduledAt);
    const waitMs = checked.input.waitForFileMs ?? DEFAULT_WAIT_MS;
    const seen = await look(deps, batch.file.path);
    const leftMs = activityInfo().scheduledTimestampMs + waitMs - Date.now();
    if ('sha256' in seen) {
      if (seen.sha256 === seenBefore()) return { ...batch, file: { ...batch.file, sha256: seen.sha256 } };
      // The second look at a file that came at the last moment is still due.
      if (leftMs <= 0 && seenBefore() !== undefined) throw stillGrows(batch.file.path);
      await deps.confirmAttempt(seen);
      throw comeBackIn(LOOKS_APART_MS, `${batch.file.path} is there; looking again whether it still grows`);
    }
    if (await exists(batch)) return batch;
    if (leftMs <= 0 || isHopeless(seen)) throw batchFailure(seen);
    throw comeBackIn(Math.min(leftMs, LOOK_EVERY_MS), `waiting for ${batch.file.path}: ${seen.message}`);
  };
}

/** The batch of the period, without its file's hash. The period is told here: time zone data has no place in workflows. */
function batchOf(input: ScheduledBatchInput, scheduledAt: string | undefined): PeriodBatch {
  const { account = DEFAULT_ACCOUNT, plan, timeZone = 'UTC', periodFormat = 'date', filePattern, batch } = input;
  const period = input.period ?? (scheduledAt && periodAt(new Date(scheduledAt), timeZone, periodFormat));
  if (!period) {
    throw invalidInput([{ field: 'period', reason: 'required, unless a schedule starts it' }]);
  }
  return { ...batch, account, batchId: periodBatchId(plan, period), file: { path: fileOfPeriod(filePattern, period) } };
}

/** The hash of the file as it is now, or why it cannot be used. */
async function look(deps: ActivityDeps, path: string): Promise<{ sha256: string } | BatchFileError> {
  try {
    const source = await openBatchSource(deps.directories, { file: { path } });
    await source.close();
    return { sha256: source.sha256 };
  } catch (error) {
    if (error instanceof BatchFileError) return error;
    throw error;
  }
}

const seenBefore = (): string | undefined =>
  (activityInfo().heartbeatDetails as { sha256?: string } | undefined)?.sha256;

const stillGrows = (path: string): ApplicationFailure =>
  ApplicationFailure.create({
    type: BATCH_FILE_UNUSABLE,
    message: `${path} still grows`,
    nonRetryable: true,
    details: [[{ field: 'file.path', reason: 'still grows' }]],
  });

/** A bad path stays bad; bad content may be a file that is only half there. */
const isHopeless = ({ failureType, field }: BatchFileError): boolean =>
  failureType === INVALID_INPUT && field === 'file.path';

async function exists({ account = DEFAULT_ACCOUNT, batchId }: PeriodBatch): Promise<boolean> {
  try {
    await getClient().workflow.getHandle(batchWorkflowId(account, batchId)).describe();
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
