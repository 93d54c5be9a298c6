import { expect, test } from 'vitest';
import type { BatchProgress } from '../../../src/contract/batch/batch.js';
import { noProgress, pauseRefusal, stopRefusal } from '../../../src/workflows/batch/rules.js';

const batch = (progress: Partial<BatchProgress>) => ({
  ...{ input: { startedBy: 'ann' }, account: 'default', batchId: 'payroll', startedAt: '2026-11-30T17:00:00.000Z' },
  ...{ phase: 'following' as const, waitingFor: 'the end of the started orders', knownRun: undefined },
  progress: { ...noProgress(), taken: 6, started: 6, exhausted: true, ...progress },
});
const instruction = { by: 'bob', reason: 'a wrong file' };

test('rows that wait for funds are stopped though every row was taken, and cannot be paused', () => {
  const waiting = batch({ open: [], short: [3, 4] });
  expect(stopRefusal(waiting, instruction)).toBeUndefined();
  expect(pauseRefusal(waiting, instruction)).toContain('nothing is left to be sent');
  const stopped = { ...waiting, stopped: { ...instruction, at: '2026-11-30T17:01:00.000Z' } };
  expect(stopRefusal(stopped, instruction)).toContain('the batch is stopped');
});

test('a batch whose orders are all sent has nothing to stop', () => {
  expect(stopRefusal(batch({}), instruction)).toBe('nothing is left to be stopped, the batch is following');
});
