import { describe, expect, test } from 'vitest';
import { haltReason, holdReason } from '../../../src/activities/batch/rows/halt.js';
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

interface HoldCase {
  what: string;
  uncertain?: number[];
  unsettled?: number[];
  held?: RegExp;
  pause?: RegExp;
}

const HOLDS: HoldCase[] = [
  { what: 'two neighbours are uncertain', uncertain: [4, 5] },
  { what: 'three are uncertain apart', uncertain: [4, 6, 8, 10] },
  {
    what: 'three neighbours are uncertain, in any order',
    uncertain: [9, 6, 2, 7, 5],
    held: /^rows 5 to 7 are uncertain/,
  },
  { what: 'a parked one lies between', uncertain: [5, 7], unsettled: [6], held: /^rows 5 to 7 are uncertain/ },
  { what: 'one row is both', uncertain: [5, 6], unsettled: [6] },
  { what: 'three neighbours are parked', unsettled: [7, 5, 6], pause: /^rows 5 to 7 are uncertain.*check them/ },
  {
    what: 'three are parked, three others uncertain',
    uncertain: [1, 2, 3],
    unsettled: [5, 6, 7],
    pause: /^rows 5 to 7 /,
  },
];

describe('why a batch sends nothing for now', () => {
  test.for(HOLDS)('$what', ({ uncertain = [], unsettled = [], held, pause }) => {
    expect(holdReason({ unsettled, uncertain })).toEqual({
      ...(held && { held: expect.stringMatching(held) }),
      ...(pause && { pause: expect.stringMatching(pause) }),
    });
  });
});
