import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { BatchHandle } from '../../../src/client/batch/batch-handle.js';
import { BATCH_MESSAGES, type BatchState } from '../../../src/contract/batch/batch.js';
import { rogueAt, updatesIn } from '../../temporal/rogue.fixture.js';
import { keyOf } from '../../temporal/stored-bytes.fixture.js';
import { type BatchLab, openBatchLab, startRows, testRows, untilState } from './batches.fixture.js';

vi.setConfig({ testTimeout: 120_000 });

let encrypted: BatchLab;
let open: BatchLab;
beforeAll(async () => {
  [encrypted, open] = await Promise.all([
    openBatchLab({ encryptionKeys: [keyOf('a')], encryptionRequired: true }),
    openBatchLab(),
  ]);
});
afterAll(() => Promise.all([encrypted?.close(), open?.close()]));

const ROWS = 24;
const BY = { by: 'Ann', reason: 'one of them looks odd' };

/** A batch that was paused with rows left, once nothing of it is open. */
async function paused(lab: BatchLab, label: string) {
  const rows = testRows(label, ROWS, () => 'after_ms=1000');
  const batch = await startRows(lab, rows, { maxInFlight: 4 });
  await untilState(batch, ({ progress }) => progress.started > 0);
  const state = await pausedAgain(batch);
  return { batch, state, at: state.paused?.at, rogue: rogueAt(lab) };
}

async function pausedAgain(batch: BatchHandle): Promise<BatchState> {
  await batch.pause(BY);
  return untilState(batch, ({ phase, progress }) => phase === 'paused' && progress.open.length === 0);
}

/** Nothing more was sent: it stays paused with what had been started. */
async function standsStill(batch: BatchHandle, { paused: pause, progress }: BatchState): Promise<void> {
  expect(await batch.state()).toMatchObject({
    phase: 'paused',
    paused: pause,
    progress: { started: progress.started },
  });
}

// Before: both were taken, and the rest of the batch was paid.
test('a copy of what paused a batch, or of what resumed it from an earlier pause, resumes nothing', async () => {
  const { batch, state, rogue } = await paused(encrypted, 'copied');
  const copy = async (update: string) => updatesIn(await rogue.historyOf(batch.workflowId), update)[0] ?? [];
  expect(await rogue.update(batch.workflowId, BATCH_MESSAGES.resume, await copy(BATCH_MESSAGES.pause))).toBe('refused');
  await standsStill(batch, state);

  await batch.resume({ by: 'Bob', reason: 'it is not' });
  await untilState(batch, ({ progress }) => progress.started > state.progress.started);
  const again = await pausedAgain(batch);
  expect(again.progress.started).toBeLessThan(ROWS);
  expect(await rogue.update(batch.workflowId, BATCH_MESSAGES.resume, await copy(BATCH_MESSAGES.resume))).toBe(
    'refused',
  );
  await standsStill(batch, again);
  await batch.stop(BY);
  await batch.result();
});

test('a resume that names another pause is refused with what to send; one that names none means the pause there is', async () => {
  const { batch, state, at, rogue } = await paused(open, 'raw');
  const send = (instruction: object) =>
    rogue.client.workflow.getHandle(batch.workflowId).executeUpdate(BATCH_MESSAGES.resume, { args: [instruction] });
  const why = { cause: { message: expect.stringContaining(`pausedAt: must be "${at}"`) } };
  for (const pausedAt of ['', state.sendingSince, 1, [at]]) {
    await expect(send({ ...BY, pausedAt })).rejects.toMatchObject(why);
  }
  await expect(batch.resume({ ...BY, pausedAt: '2020-01-01T00:00:00.000Z' })).rejects.toThrow('pausedAt: must be');
  await standsStill(batch, state);
  await send(BY);
  expect((await batch.result()).outcomes.completed).toBe(ROWS);
});
