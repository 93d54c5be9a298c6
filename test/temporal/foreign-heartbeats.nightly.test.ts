import type { Payload } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import { beforeAll, expect, test, vi } from 'vitest';
import { executedOf, startRows, testRows, useBatchLab } from '../workflows/batch/batches.fixture.js';
import { plain, type Rogue, rogueAt } from './rogue.fixture.js';
import { keyOf } from './stored-bytes.fixture.js';

vi.setConfig({ testTimeout: 150_000 });

const SENDING = 'sendBatchRows';

const lab = useBatchLab({ encryptionKeys: [keyOf('a')], encryptionRequired: true });
let rogue: Rogue;
beforeAll(() => {
  rogue = rogueAt(lab);
});

/** The pending activity of that type, as anybody sees it; undefined while there is none. */
async function pending(workflowId: string, type = SENDING) {
  const { raw } = await rogue.client.workflow.getHandle(workflowId).describe();
  return raw.pendingActivities?.find(({ activityType }) => activityType?.name === type);
}

/** Leaves `details` with the attempt that runs and fails it, so that the next one finds them. False: it was over before. */
async function leave(workflowId: string, activityId: string, details: Payload): Promise<boolean> {
  const of = { namespace: lab.temporal.namespace, workflowId, activityId, identity: 'rogue' };
  const { workflowService } = rogue.client;
  try {
    await workflowService.recordActivityTaskHeartbeatById({ ...of, details: { payloads: [details] } });
    await workflowService.respondActivityTaskFailedById({
      ...of,
      failure: { message: 'worker died', applicationFailureInfo: { type: 'Error', nextRetryDelay: msToTs('4s') } },
    });
    return true;
  } catch {
    return false;
  }
}

/** Until an attempt was met whose successor reads the details. */
function untilLeft(workflowId: string, details: () => Payload): Promise<void> {
  return vi.waitFor(
    async () => {
      const sending = await pending(workflowId);
      const heldAt = sending?.activityId && (await leave(workflowId, sending.activityId, details()));
      expect(heldAt).toBe(true);
    },
    { timeout: 60_000, interval: 20 },
  );
}

// Before: each attempt failed on what it was handed, and nothing of the batch was sent or told until the heartbeat was reset.
test.for([
  { what: 'in the clear', details: () => plain({ taken: 6, exhausted: true, open: [] }) },
  {
    what: 'that nobody can decrypt',
    details: (): Payload => ({
      metadata: { encoding: Buffer.from('binary/encrypted'), 'encryption-key-id': Buffer.from('a') },
      data: Buffer.alloc(60),
    }),
  },
])('a heartbeat $what is none: the batch goes on from what it knows, and pays each row once', async ({ details }) => {
  const rows = testRows('beaten', 6, () => 'after_ms=1500');
  const batch = await startRows(lab, rows, { maxInFlight: 2 });
  await untilLeft(batch.workflowId, details);
  expect(await batch.state()).toMatchObject({ phase: 'sending', progress: { outcomes: expect.anything() } });
  const { outcomes } = await batch.result({ timeoutMs: 100_000 });
  expect(outcomes.completed).toBe(6);
  expect(executedOf(lab, rows)).toBe(6);
});
