import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { newOrderId } from '../../support/lab.js';
import { keyOf } from '../../temporal/stored-bytes.fixture.js';
import { csvOf, executedOf, openBatchLab, testRows } from './batches.fixture.js';

const HOUR_MS = 3_600_000;

// Before: with `required` the worker refused its own heartbeat, the waiting for the file failed at every attempt, and nothing was paid.
test.for([false, true])('a scheduled batch is paid, PAYLOAD_ENCRYPTION=required: %s', async (encryptionRequired) => {
  const lab = await openBatchLab({ workflowThread: false, encryptionKeys: [keyOf('a')], encryptionRequired });
  onTestFinished(() => lab.close());
  const plan = newOrderId('plan');
  const rows = testRows(plan, 2);
  const file = join(lab.folder, `${plan}-2026-11-20.csv`);
  await writeFile(file, csvOf(rows));
  const settled = new Date(Date.now() - HOUR_MS);
  await utimes(file, settled, settled);
  await lab.orders.schedules.create({
    plan,
    cron: ['0 0 29 2 * 2092'],
    filePattern: `${plan}-{period}.csv`,
    waitForFileMs: 20_000,
    batch: { startedBy: 'ann' },
  });
  const { workflowId } = await lab.orders.schedules.trigger(plan, { period: '2026-11-20' });
  await lab.temporal.client.workflow.getHandle(workflowId).result();
  expect(executedOf(lab, rows)).toBe(2);
});
