import { execFileSync } from 'node:child_process';
import { openSync, symlinkSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { setEarlierReportAside } from '../../../src/activities/batch/report/report-files.js';
import { openJsonReport } from '../../../src/reports/formats.js';

const [FIRST, SECOND] = ['a'.repeat(64), 'b'.repeat(64)];

/** A folder with the report of a batch of the first file. */
async function reported(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'payment-orders-reports-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const json = await openJsonReport(folder, 'default.b.report.json', {
    account: 'default',
    batchId: 'b',
    sha256: FIRST,
  });
  await json.finish({});
  await writeFile(join(folder, 'default.b.report.csv'), 'rows of the first file');
  return folder;
}

test('the report of another file under the same batch id is kept beside the new one', async () => {
  const folder = await reported();
  await setEarlierReportAside(folder, 'default.b', SECOND);
  await setEarlierReportAside(folder, 'default.b', SECOND);
  expect((await readdir(folder)).sort()).toEqual(['default.b.aaaaaaaa.report.csv', 'default.b.aaaaaaaa.report.json']);
  expect(await readFile(join(folder, 'default.b.aaaaaaaa.report.csv'), 'utf8')).toBe('rows of the first file');
});

test('the report of the same file is replaced, and where there is none nothing happens', async () => {
  const folder = await reported();
  await setEarlierReportAside(folder, 'default.b', FIRST);
  await setEarlierReportAside(folder, 'default.c', SECOND);
  expect((await readdir(folder)).sort()).toEqual(['default.b.report.csv', 'default.b.report.json']);
});

test('a link or a named pipe in its place is none, and holds nothing up', async () => {
  const folder = await reported();
  symlinkSync('default.b.report.json', join(folder, 'default.c.report.json'));
  const pipe = join(folder, 'default.d.report.json');
  execFileSync('mkfifo', [pipe]);
  // Somebody who waits for its writer for ever would keep this test from ending.
  onTestFinished(() => void openSync(pipe, 'r+'));
  await setEarlierReportAside(folder, 'default.c', SECOND);
  await setEarlierReportAside(folder, 'default.d', SECOND);
  expect((await readdir(folder)).filter((name) => name.includes('aaaaaaaa'))).toEqual([]);
});
