import { expect, onTestFinished, test } from 'vitest';
import { keyOf } from '../../temporal/stored-bytes.fixture.js';
import { executedOf, openBatchLab } from './batches.fixture.js';
import { schedule, trigger, writeOld } from './schedules.fixture.js';

// Before: with `required` the worker refused its own heartbeat, the waiting for the file failed at every attempt, and nothing was paid.
test.for([false, true])('a scheduled batch is paid, PAYLOAD_ENCRYPTION=required: %s', async (encryptionRequired) => {
  const lab = await openBatchLab({ workflowThread: false, encryptionKeys: [keyOf('a')], encryptionRequired });
  onTestFinished(() => lab.close());
  const plan = await schedule(lab, 'plan', { waitForFileMs: 20_000 });
  const rows = await writeOld(lab, plan);
  await (await trigger(lab, plan)).run.result();
  expect(executedOf(lab, rows)).toBe(3);
});
