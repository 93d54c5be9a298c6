import { appendFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { describe, expect, test } from 'vitest';
import { type ActivityDeps, createActivities } from '../../../src/activities/index.js';
import type { PeriodBatch } from '../../../src/contract/batch/activities.js';
import { newFolder, PAYOUT_HEADER, payoutLine } from '../../support/batch-files.js';
import { PACE } from '../activity-lab.fixture.js';

const PERIOD = '2026-11-27';
const WAIT_MS = 60_000;

/** A period's file and the looks at it, one attempt each, as the server hands them out. */
function watched() {
  const batchDir = newFolder();
  const file = join(batchDir, `payroll-${PERIOD}.csv`);
  let kept: unknown;
  const deps: ActivityDeps = {
    accounts: new Map(),
    pace: PACE,
    directories: { batchDir },
    confirmAttempt: async (details) => {
      kept = details;
    },
  };
  const { awaitBatchFile } = createActivities(deps);
  const input = {
    plan: 'payroll',
    period: PERIOD,
    filePattern: 'payroll-{period}.csv',
    waitForFileMs: WAIT_MS,
    batch: { startedBy: 'ann' },
  };
  /** The batch, or the failure of the look that is made so long after the first. */
  const look = async (atMs = 0): Promise<PeriodBatch | ApplicationFailure> => {
    const info = { heartbeatDetails: kept, scheduledTimestampMs: Date.now() - atMs };
    const environment = new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') });
    const run = environment.run(awaitBatchFile as (input: unknown) => Promise<PeriodBatch>, { input });
    return (run as Promise<PeriodBatch>).catch((error: ApplicationFailure) => error);
  };
  return {
    file,
    look,
    write: () => writeFileSync(file, `${PAYOUT_HEADER}\n${payoutLine(1)}\n`),
    append: () => appendFileSync(file, `${payoutLine(2)}\n`),
    /** How many looks it takes until the file is whole; every one before asks for the next 5 s later. */
    looksUntilTaken: async (): Promise<number> => {
      for (let looks = 1; looks < 20; looks += 1) {
        const answer = await look();
        if ('batchId' in answer) return looks;
        expect(answer).toMatchObject({ type: 'StillOpen', nonRetryable: false, nextRetryDelay: 5_000 });
      }
      return Number.POSITIVE_INFINITY;
    },
  };
}

const setModified = (file: string, agoMs: number): void => {
  const time = new Date(Date.now() - agoMs);
  utimesSync(file, time, time);
};

describe('a file of a period', () => {
  test('that was written just now rests for 30 s before it is taken', async () => {
    const { write, looksUntilTaken } = watched();
    write();
    expect(await looksUntilTaken()).toBe(7);
  });

  test('that stalled and is written to again rests anew', async () => {
    const { write, append, look, looksUntilTaken } = watched();
    write();
    for (let looks = 0; looks < 6; looks += 1) await look();
    append();
    expect(await looksUntilTaken()).toBe(7);
  });

  test('that is written to with the same bytes rests anew', async () => {
    const { file, write, look, looksUntilTaken } = watched();
    write();
    for (let looks = 0; looks < 6; looks += 1) await look();
    setModified(file, 1_000);
    expect(await looksUntilTaken()).toBe(7);
  });

  test.for<[what: string, agoMs: number, looks: number]>([
    ['ten minutes ago is taken at the second look', 10 * 60_000, 2],
    ['nine minutes ago rests: clocks may differ by as much', 9 * 60_000, 7],
    ['in the future, by another clock, rests', -3_600_000, 7],
  ])('that was last written to %s', async ([, agoMs, looks]) => {
    const { file, write, looksUntilTaken } = watched();
    write();
    setModified(file, agoMs);
    expect(await looksUntilTaken()).toBe(looks);
  });

  test('that is still there when the time is over may come to rest', async () => {
    const { write, look } = watched();
    write();
    for (let looks = 1; looks < 7; looks += 1) await look(WAIT_MS + looks * 5_000);
    expect(await look(WAIT_MS + 35_000)).toMatchObject({ batchId: `payroll.${PERIOD}` });
  });

  test('that changes when the time is over fails for good', async () => {
    const { write, append, look } = watched();
    write();
    await look(WAIT_MS - 1_000);
    append();
    expect(await look(WAIT_MS + 4_000)).toMatchObject({
      type: 'BatchFileUnusable',
      nonRetryable: true,
      details: [[{ field: 'file.path', reason: 'still grows' }]],
    });
  });
});
