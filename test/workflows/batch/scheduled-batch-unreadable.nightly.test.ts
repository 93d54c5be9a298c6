import { expect, test, vi } from 'vitest';
import type { EncryptionKey } from '../../../src/config.js';
import { batchWorkflowId } from '../../../src/contract/names.js';
import { keyOf } from '../../temporal/stored-bytes.fixture.js';
import { executedOf, useBatchLab } from './batches.fixture.js';
import { PERIOD, schedule, trigger, writeOld } from './schedules.fixture.js';

const [ours, others] = [keyOf('ours'), keyOf('others')];

const lab = useBatchLab({ workers: false, encryptionKeys: [ours] });

const startWorkers = (encryptionKeys: EncryptionKey[]) =>
  lab.startWorkers({ encryptionKeys, directories: { batchDir: lab.folder, reportDir: lab.folder } });

const hasEnded = async (workflowId: string) => {
  const { status } = await lab.temporal.client.workflow.getHandle(workflowId).describe();
  expect(status.name).toBe('COMPLETED');
};

test('a period whose batch ended under a key its workers lack fails, says which, and pays nobody twice', async () => {
  const plan = await schedule(lab, 'sealed');
  const rows = await writeOld(lab, plan);

  await startWorkers([others, ours]);
  const { run: first } = await trigger(lab, plan);
  await vi.waitFor(() => hasEnded(batchWorkflowId('default', `${plan}.${PERIOD}`)), { timeout: 40_000, interval: 200 });
  await vi.waitFor(() => hasEnded(first.workflowId), { timeout: 40_000, interval: 200 });
  await lab.stopWorkers();

  await startWorkers([ours]);
  const failed = await (await trigger(lab, plan)).run.result().catch((error: { cause?: unknown }) => error.cause);
  expect(failed).toMatchObject({
    type: 'BatchUnresolved',
    message: expect.stringContaining('payload encrypted with key others: not in PAYLOAD_ENCRYPTION_KEYS'),
  });
  expect(executedOf(lab, rows)).toBe(3);
});
