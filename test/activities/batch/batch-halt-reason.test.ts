import { describe, expect, test } from 'vitest';
import { haltReason } from '../../../src/activities/batch/rows/halt.js';
import { type BatchInput, type BatchProgress, NONE_ENDED } from '../../../src/contract/batch/batch.js';

const NOW_MS = Date.parse('2026-11-27T10:00:00Z');

const progressWith = (outcomes: Partial<BatchProgress['outcomes']>): Pick<BatchProgress, 'outcomes'> => ({
  outcomes: { ...NONE_ENDED, ...outcomes },
});

interface Case {
  what: string;
  input?: Pick<BatchInput, 'stopAfter' | 'latestSend'>;
  outcomes?: Partial<BatchProgress['outcomes']>;
  reason: RegExp | undefined;
}

const CASES: Case[] = [
  { what: 'no limit is met', outcomes: { completed: 5, error: 50 }, reason: undefined },
  { what: 'one failure is missing', input: { stopAfter: { failures: 3 } }, outcomes: { error: 2 }, reason: undefined },
  {
    what: 'every kind of failure counts',
    input: { stopAfter: { failures: 3 } },
    outcomes: { completed: 9, canceled: 1, conflict: 1, parked: 1 },
    reason: /^3 rows ended otherwise than completed; the limit is 3$/,
  },
  { what: 'the latest time is now', input: { latestSend: '2026-11-27T11:00:00+01:00' }, reason: undefined },
  { what: 'the latest time is over', input: { latestSend: '2026-11-27T09:59:59Z' }, reason: /latest send time/ },
];

describe('why a batch stops by itself', () => {
  test.for(CASES)('$what', ({ input = {}, outcomes = {}, reason }) => {
    const told = haltReason(input, progressWith(outcomes), NOW_MS);
    if (reason) expect(told).toMatch(reason);
    else expect(told).toBeUndefined();
  });
});
