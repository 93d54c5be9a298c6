import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { searchAttribute } from '../../../src/contract/names.js';
import { newFolder } from '../../support/batch-files.js';
import { type BatchLab, openBatchLab, startRows, testRows, untilPhase, untilState } from './batches.fixture.js';

vi.setConfig({ testTimeout: 150_000 });

let lab: BatchLab;
const top = newFolder(afterAll);
const auditDir = (): string => join(top, 'audit');
const reportDir = (): string => join(top, 'reports');
beforeAll(async () => {
  lab = await openBatchLab({ workers: false });
  await Promise.all([auditDir(), reportDir()].map((folder) => mkdir(folder)));
  await lab.startWorkers({ directories: { batchDir: lab.folder, reportDir: reportDir() }, auditDir: auditDir() });
});
afterAll(() => lab?.close());

/** Puts a file in the place of a folder; resolves to what puts the folder back. */
async function block(folder: string): Promise<() => Promise<void>> {
  await rename(folder, `${folder}.gone`);
  await writeFile(folder, '');
  let blocked = true;
  const free = async () => {
    if (!blocked) return;
    blocked = false;
    await rm(folder);
    await rename(`${folder}.gone`, folder);
  };
  onTestFinished(free);
  return free;
}

const isShownForAttention = async (workflowId: string): Promise<boolean | undefined> =>
  (await lab.temporal.client.workflow.getHandle(workflowId).describe()).typedSearchAttributes.get(
    searchAttribute.needsAttention,
  );

const stopsWritten = async (workflowId: string): Promise<string[]> => {
  const texts = await Promise.all((await readdir(auditDir())).map((name) => readFile(join(auditDir(), name), 'utf8')));
  const lines = texts.flatMap((text) => text.trim().split('\n')).map((line) => JSON.parse(line));
  return lines.filter((line) => line.workflowId === workflowId && line.event === 'stop').map(({ choice }) => choice.by);
};

// Before: the report was tried again for ever, and the batch said that it waits for its report.
test('a batch whose stop cannot be written into the audit record tells a person, until it can', async () => {
  const batch = await startRows(lab, testRows('stopped', 3), { maxInFlight: 1 });
  await untilPhase(batch, 'sending');
  await batch.pause({ by: 'Bob', reason: 'looks odd' });
  await untilState(batch, ({ phase, progress }) => phase === 'paused' && progress.open.length === 0);
  const free = await block(auditDir());
  await batch.stop({ by: 'Cid', reason: 'it is' });
  const { attention } = await untilState(batch, (state) => state.attention !== undefined);
  expect(attention).toMatch(/^the audit record cannot be written \(ENOTDIR\): see to AUDIT_DIR/);
  expect(await isShownForAttention(batch.workflowId)).toBe(true);
  await free();
  expect(await batch.result()).toMatchObject({ stopped: { by: 'Cid' }, report: { path: expect.any(String) } });
  expect((await batch.state()).attention).toBeUndefined();
  expect(await isShownForAttention(batch.workflowId)).toBe(false);
  expect(await stopsWritten(batch.workflowId)).toEqual(['Cid']);
});

test('a batch whose report cannot be written tells a person, until it can', async () => {
  const free = await block(reportDir());
  const batch = await startRows(lab, testRows('reported', 2));
  const { attention, phase } = await untilState(batch, (state) => state.attention !== undefined);
  expect(attention).toMatch(/^the report cannot be written \(ENOTDIR\): see to REPORT_DIR/);
  expect(phase).toBe('reporting');
  await free();
  const { outcomes, report } = await batch.result();
  expect(outcomes.completed).toBe(2);
  expect(await readdir(reportDir())).toContain(report?.path);
  expect(await isShownForAttention(batch.workflowId)).toBe(false);
});

test('a batch with bad rows that cannot be listed tells a person, until they can, may be paused and resumed, and sends nothing', async () => {
  const free = await block(reportDir());
  const rows = testRows('refused', 2).map((row) => ({ ...row, amount: 'much' }));
  const batch = await startRows(lab, rows);
  const { attention, phase } = await untilState(batch, (state) => state.attention !== undefined);
  expect(attention).toMatch(/^the report cannot be written \(ENOTDIR\)/);
  expect(phase).toBe('checking');
  await batch.pause({ by: 'Cid', reason: 'whose rows are these?' });
  const { choices } = await untilState(batch, ({ paused }) => paused !== undefined);
  expect(choices.map(({ update }) => update)).toEqual(['resume', 'stop']);
  await free();
  await expect(batch.result()).rejects.toThrow(/2 of 2 are bad.*errors\.csv of REPORT_DIR/);
});
