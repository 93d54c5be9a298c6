import { activityInfo, getClient } from '@temporalio/activity';
import { BatchFileError, unusableFile } from '../../batch-files/read-file.js';
import { readBatchSource } from '../../batch-files/source.js';
import { describeRun } from '../../client/standing.js';
import type { AwaitBatchFileInput, PeriodBatch } from '../../contract/batch/activities.js';
import type { ScheduledBatchInput } from '../../contract/batch/batch.js';
import { INVALID_INPUT } from '../../contract/failures.js';
import { batchWorkflowId, DEFAULT_ACCOUNT, periodBatchId } from '../../contract/names.js';
import { fileOfPeriod, periodAt, validateScheduledBatchInput } from '../../validation/batch-input.js';
import type { ActivityDeps } from '../deps.js';
import { batchFailure, comeBackIn, invalidInput } from '../failures.js';
import { lastHeartbeat } from '../only-attempt.js';

const DEFAULT_WAIT_MS = 30 * 60_000;
/** Intervals between looks at a missing file, and at an existing one. */
const [LOOK_EVERY_MS, LOOKS_APART_MS] = [10_000, 5_000];
/** Equal looks after which a file is complete: 30 s by the server's clock. */
const LOOKS = 7;
/** Age from which a file needs less watching. No clock differs that much. */
const OLD_MS = 10 * 60_000;
/** Looks at an old file: a copy that keeps the original's time may still be in progress. */
const LOOKS_AT_OLD = 2;

interface FoundFile {
  sha256: string;
  modifiedMs: number;
}

type Sighting = FoundFile & { looks: number };

/**
 * Waits until a period's file is complete, and pins its batch to it. A started batch needs no file.
 */
export function awaitBatchFileActivity(deps: ActivityDeps) {
  return async function awaitBatchFile({ input: raw, scheduledAt }: AwaitBatchFileInput): Promise<PeriodBatch> {
    const checked = validateScheduledBatchInput(raw);
    if ('errors' in checked) throw invalidInput(checked.errors);
    const batch = batchOf(checked.input, scheduledAt);
    const waitMs = checked.input.waitForFileMs ?? DEFAULT_WAIT_MS;
    const found = await look(deps, batch);
    const leftMs = activityInfo().scheduledTimestampMs + waitMs - Date.now();
    if ('sha256' in found) {
      await letRest(deps, batch.file.path, found, leftMs);
      return { ...batch, file: { ...batch.file, sha256: found.sha256 } };
    }
    if (await describeRun(getClient(), batchWorkflowId(batch.account, batch.batchId))) return batch;
    // A bad path stays bad. Bad content may be an incomplete file.
    const isHopeless = found.failureType === INVALID_INPUT && found.field === 'file.path';
    if (leftMs <= 0 || isHopeless) throw batchFailure(found);
    throw comeBackIn(Math.min(leftMs, LOOK_EVERY_MS), `waiting for ${batch.file.path}: ${found.message}`);
  };
}

/**
 * Returns when the file is complete. Until then, throws the failure that schedules the next look.
 */
async function letRest(deps: ActivityDeps, path: string, found: FoundFile, leftMs: number): Promise<void> {
  const before = lastHeartbeat<Sighting>();
  const same = before?.sha256 === found.sha256 && before.modifiedMs === found.modifiedMs;
  const looks = same ? before.looks + 1 : 1;
  const isOld = Date.now() - found.modifiedMs >= OLD_MS;
  if (looks >= (isOld ? LOOKS_AT_OLD : LOOKS)) return;
  // A file that appeared at the last moment may become complete; one that still changes may not.
  if (leftMs <= 0 && before && !same) throw batchFailure(unusableFile('still grows', 'file.path'));
  await deps.confirmAttempt({ ...found, looks } satisfies Sighting);
  throw comeBackIn(LOOKS_APART_MS, `${path} is there; watching whether it is still written to`);
}

/** Returns the period's batch without the hash. Workflows have no time zone data. */
function batchOf(input: ScheduledBatchInput, scheduledAt: string | undefined): PeriodBatch & { account: string } {
  const { account = DEFAULT_ACCOUNT, plan, timeZone = 'UTC', periodFormat = 'date', filePattern, batch } = input;
  const period = input.period ?? (scheduledAt && periodAt(new Date(scheduledAt), timeZone, periodFormat));
  if (!period) throw invalidInput([{ field: 'period', reason: 'required, unless a schedule starts it' }]);
  return { ...batch, account, batchId: periodBatchId(plan, period), file: { path: fileOfPeriod(filePattern, period) } };
}

const look = (
  deps: ActivityDeps,
  { account, file: { path } }: ReturnType<typeof batchOf>,
): Promise<FoundFile | BatchFileError> =>
  readBatchSource(deps.directories, { account, file: { path } }).then(
    ({ sha256, modifiedMs = 0 }) => ({ sha256, modifiedMs }),
    (error: unknown) => {
      if (error instanceof BatchFileError) return error;
      throw error;
    },
  );
