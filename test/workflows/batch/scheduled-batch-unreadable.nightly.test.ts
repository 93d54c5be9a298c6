import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { EncryptionKey } from '../../../src/config.js';
import { batchWorkflowId } from '../../../src/contract/names.js';
import { keyOf } from '../../temporal/stored-bytes.fixture.js';
import { type BatchLab, csvOf, executedOf, openBatchLab, testRows } from './batches.fixture.js';

const [ours, others] = [keyOf('ours'), keyOf('others')];
const PERIOD = '2026-11-20';

let lab: BatchLab;
beforeAll(async () => {
  lab = await openBatchLab({ workers: false, encryptionKeys: [ours] });
});
afterAll(() => lab?.close());

const startWorkers = (encryptionKeys: EncryptionKey[]) =>
  lab.startWorkers({ encryptionKeys, directories: { batchDir: lab.folder, reportDir: lab.folder } });

const trigger = async (plan: string) => {
  const { workflowId } = await lab.orders.schedules.trigger(plan, { period: PERIOD });
  return lab.temporal.client.workflow.getHandle(workflowId);
};

const hasEnded = async (workflowId: string) => {
  const { status } = await lab.temporal.client.workflow.getHandle(workflowId).describe();
  expect(status.name).toBe('COMPLETED');
};

test('a period whose batch ended under a key its workers lack fails, says which, and pays nobody twice', async () => {
  const rows = testRows('sealed', 3);
  const file = join(lab.folder, `sealed-${PERIOD}.csv`);
  await writeFile(file, csvOf(rows));
  const hourAgo = new Date(Date.now() - 3_600_000);
  await utimes(file, hourAgo, hourAgo);
  await lab.orders.schedules.create({
    plan: 'sealed',
    cron: ['0 0 29 2 * 2092'],
    filePattern: 'sealed-{period}.csv',
    batch: { startedBy: 'ann' },
  });

  await startWorkers([others, ours]);
  const first = await trigger('sealed');
  await vi.waitFor(() => hasEnded(batchWorkflowId('default', `sealed.${PERIOD}`)), { timeout: 40_000, interval: 200 });
  await vi.waitFor(() => hasEnded(first.workflowId), { timeout: 40_000, interval: 200 });
  await lab.stopWorkers();

  await startWorkers([ours]);
  const failed = await (await trigger('sealed')).result().catch((error: { cause?: unknown }) => error.cause);
  expect(failed).toMatchObject({
    type: 'BatchUnresolved',
    message: expect.stringContaining('payload encrypted with key others: not in PAYLOAD_ENCRYPTION_KEYS'),
  });
  expect(executedOf(lab, rows)).toBe(3);
});
