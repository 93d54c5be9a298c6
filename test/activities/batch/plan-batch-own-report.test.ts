import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newFolder, PAYOUT_HEADER, payoutLine } from '../../support/batch-files.js';
import { failureOf, openActivities } from '../activity-lab.fixture.js';

const CONTENT = `${PAYOUT_HEADER}\n${payoutLine(1)}\n`;

/** Plans a file under this path where reports are written to `reports` below the batches, or beside them. */
async function planAt(path: string, reports: '' | 'reports', { batchId = 'b', content = CONTENT } = {}) {
  const batchDir = newFolder();
  const reportDir = join(batchDir, reports);
  mkdirSync(reportDir, { recursive: true });
  writeFileSync(join(batchDir, path), content);
  const { run } = await openActivities({}, { directories: { batchDir, reportDir } });
  const input = { batchId, file: { path }, startedBy: 'ann' };
  return { batchDir, reportDir, planning: run('planBatch', { account: 'default', input }) };
}

describe('a batch whose file is one of the reports that it writes itself', () => {
  test.for<[path: string, reports: '' | 'reports']>([
    ['default.b.report.csv', ''],
    ['default.b.rejected.csv', ''],
    ['default.b.rejected.ndjson', ''],
    ['default.b.errors.csv', ''],
    ['Default.B.Rejected.csv', ''],
    ['reports/default.b.rejected.csv', 'reports'],
  ])('%s is refused and left as it is', async ([path, reports]) => {
    const content = path.endsWith('.csv') ? CONTENT : `{"order_id": "a"}\n`;
    const { batchDir, reportDir, planning } = await planAt(path, reports, { content });
    expect(await failureOf(planning)).toMatchObject({
      type: 'InvalidInput',
      nonRetryable: true,
      details: [[{ field: 'file.path', reason: expect.stringMatching(/which this batch writes itself; copy it/) }]],
    });
    expect(readFileSync(join(batchDir, path), 'utf8')).toBe(content);
    expect(readdirSync(reportDir)).toHaveLength(1);
  });

  test.for<[what: string, path: string, reports: '' | 'reports', batchId: string]>([
    ['of another batch', 'default.b.rejected.csv', '', 'b-2'],
    ['of that name in another folder', 'default.b.rejected.csv', 'reports', 'b'],
  ])('is none when the report is %s', async ([, path, reports, batchId]) => {
    const { planning } = await planAt(path, reports, { batchId });
    expect(await planning).toMatchObject({ rows: 1 });
  });
});
