import { expect, test } from 'vitest';
import { type BatchProgress, BY_ITSELF } from '../../../src/contract/batch/batch.js';
import { pause } from '../../../src/workflows/batch/interruptions.js';
import { noProgress, pauseRefusal, stopRefusal } from '../../../src/workflows/batch/rules.js';

const batch = (progress: Partial<BatchProgress>) => ({
  ...{ input: { startedBy: 'ann' }, account: 'default', batchId: 'payroll', startedAt: '2026-11-30T17:00:00.000Z' },
  ...{ phase: 'following' as const, waitingFor: 'the end of the started orders', knownRun: undefined },
  progress: { ...noProgress(), taken: 6, started: 6, exhausted: true, ...progress },
});
const instruction = { by: 'bob', reason: 'a wrong file' };

test('rows that are open are stopped though every row was taken, since they may come to wait; they cannot be paused', () => {
  const waiting = batch({ open: [{ row: 3, orderId: 'o-3' }] });
  expect(stopRefusal(waiting, instruction)).toBeUndefined();
  expect(pauseRefusal(waiting, instruction)).toContain('nothing is left to be sent');
  const stopped = { ...waiting, stopped: { ...instruction, at: '2026-11-30T17:01:00.000Z' } };
  expect(stopRefusal(stopped, instruction)).toContain('the batch is stopped');
});

test('a batch whose orders are all sent has nothing to stop', () => {
  expect(stopRefusal(batch({}), instruction)).toBe('nothing is left to be stopped, the batch is following');
});

test('a pause by the batch itself does not replace the one of a person', () => {
  const { input: _, ...rest } = batch({});
  const run = { ...rest, phase: 'checking' } as unknown as Parameters<typeof pause>[0];
  pause(run, instruction);
  pause(run, { by: BY_ITSELF, reason: '12 usd are missing' });
  expect(run.paused).toMatchObject(instruction);
});
