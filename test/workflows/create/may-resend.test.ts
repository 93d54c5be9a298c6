import { describe, expect, test } from 'vitest';
import {
  type Budget,
  type Evidence,
  mayResend,
  openBudget,
  type ProvenAbsence,
  spend,
} from '../../../src/workflows/create/may-resend.js';
import type { Conflict } from '../../../src/workflows/create/settle.js';

const ABSENT: ProvenAbsence = { kind: 'absent', atSwitch: 0, provenIn: 'run-1' };
const CONFLICT: Conflict = { kind: 'conflict', reason: 'order x has our id', ours: [], candidates: [] };

/** One create was sent, its outcome is not known, and absence is proven: the budget decides. */
const SENT: Evidence = {
  count: 1,
  unclear: 'HTTP 500',
  settled: ABSENT,
  earlierInDoubt: false,
  accountSwitches: 0,
  accountUnknown: false,
  mayBeReplaced: false,
  rejected: false,
  cancelRequested: false,
  isLate: false,
  shown: 'the service shows no such order',
};

const FIRST: Evidence = { ...SENT, count: 0, unclear: '', settled: undefined };

const LEFT: Budget = { resends: 1, spent: 1, rateLimited: 0, lastWasLimited: false };
const USED_UP: Budget = { ...LEFT, spent: 2 };

const permitted = (when: { isLate?: true; cancelRequested?: true } = {}): Partial<Evidence> => ({
  settled: { ...ABSENT, permitted: { isLate: false, cancelRequested: false, ...when } },
});

const FIRST_SEND = { answer: 'yes', permission: 'first' };
const RESEND = { answer: 'yes', permission: 'absent' };
const SETTLE = { answer: 'no', first: 'settle' };
const LOOK = { answer: 'no', first: 'look for the earlier run' };
const RESOLVE = { answer: 'no', first: 'resolve the conflict', conflict: CONFLICT };
const person = (reason = '') => ({
  answer: 'a person',
  reason: `HTTP 500, and the service shows no such order${reason}`,
});

const CANCELLED = '; it was cancelled';
const LATE = '; the time that it was to start at has passed';
const UNKNOWN = '; where its create went is not known: make sure that this is the account';
const REPLACED = '; another follow-up may have been sent in its place since';

type Row = [fact: string, evidence: Partial<Evidence>, answer: object, budget?: Budget];

describe('the first send', () => {
  test.each<Row>([
    ['needs no proof and no budget', {}, FIRST_SEND, { ...LEFT, resends: 0, spent: 5 }],
    ['may be late', { isLate: true }, FIRST_SEND],
    ['waits until what an earlier run sent is proven absent', { earlierInDoubt: true }, LOOK],
    ['is none while an order that is not ours has our id', { settled: CONFLICT }, RESOLVE],
  ])('%s', (_, changes, answer, budget = LEFT) => {
    expect(mayResend({ ...FIRST, ...changes }, budget)).toEqual(answer);
  });
});

describe('a create whose outcome is not known', () => {
  test.each<Row>([
    ['is sent again when absence is proven and the budget covers it', {}, RESEND],
    ['is not before absence is proven', { settled: undefined }, SETTLE],
    ['is not while an order that is not ours has our id', { settled: CONFLICT }, RESOLVE],
    ['is not while an earlier run is in doubt', { earlierInDoubt: true }, LOOK],
    ['is not on a proof of another place', { accountSwitches: 1 }, SETTLE],
    ['is not on a permission for another place', { accountSwitches: 1, ...permitted() }, SETTLE],
    ['is not on a late permission for another place', { accountSwitches: 1, ...permitted({ isLate: true }) }, SETTLE],
    ['is sent by a person alone without budget', {}, person(), USED_UP],
    ['is sent by a person alone when cancelled', { cancelRequested: true }, person(CANCELLED)],
    ['is sent by a person alone when its time has passed', { isLate: true }, person(LATE)],
    ['is sent by a person alone where its place is not known', { accountUnknown: true }, person(UNKNOWN)],
    ['is sent by a person alone where another may stand for it', { mayBeReplaced: true }, person(REPLACED)],
    [
      'is sent by a person alone where a person moved it',
      { accountSwitches: 1, settled: { ...ABSENT, atSwitch: 1 } },
      person(),
    ],
    [
      'tells a person all that speaks against it',
      { cancelRequested: true, isLate: true, accountUnknown: true, mayBeReplaced: true },
      person(`${CANCELLED}${LATE}${UNKNOWN}${REPLACED}`),
    ],
    ['counts no refusal against it', { rejected: true }, RESEND],
  ])('%s', (_, changes, answer, budget = LEFT) => {
    expect(mayResend({ ...SENT, ...changes }, budget)).toEqual(answer);
  });
});

describe('a permission to send again that the service made wait', () => {
  test.each<Row>([
    ['holds, whatever the budget says by then', permitted(), RESEND, USED_UP],
    ['is taken back by a cancellation', { ...permitted(), cancelRequested: true }, person(CANCELLED)],
    ['holds after a person gave it again', { ...permitted({ cancelRequested: true }), cancelRequested: true }, RESEND],
    ['holds where a person gave it for an unknown place', { ...permitted(), accountUnknown: true }, RESEND],
    ['is taken back when its time passes', { ...permitted(), isLate: true }, person(LATE)],
    ['is taken back only once', { ...permitted({ isLate: true }), isLate: true }, RESEND],
    ['holds after its time without any budget', { ...permitted({ isLate: true }), isLate: true }, RESEND, USED_UP],
  ])('%s', (_, changes, answer, budget = LEFT) => {
    expect(mayResend({ ...SENT, ...changes }, budget)).toEqual(answer);
  });
});

/** Creates that are sent before a person is asked, when each is answered in the same way and then proven absent. */
function sendsByItself(budget: Budget, verdict: { retryAfterMs?: number }): number {
  for (let count = 1; ; count += 1) {
    spend(budget, verdict);
    if (mayResend({ ...SENT, count }, budget).answer !== 'yes') return count;
  }
}

describe('the budget', () => {
  test.each([
    ['types that move money at once: once', 'once', true, 2],
    ['types that move money at once, when nothing is said: once', undefined, true, 2],
    ['deposits: twice', 'once', false, 3],
    ['never, for types that move money at once', 'never', true, 1],
    ['never, for deposits', 'never', false, 1],
  ] as const)('%s', (_, resend, movesMoneyAtOnce, sends) => {
    expect(sendsByItself(openBudget(resend, movesMoneyAtOnce), {})).toBe(sends);
  });

  test.each([
    ['costs no re-send, twenty times', 'once', true, 20],
    ['costs deposits none either', 'once', false, 20],
    ['changes nothing where nothing may be sent again', 'never', true, 1],
  ] as const)('"too many requests" %s', (_, resend, movesMoneyAtOnce, sends) => {
    expect(sendsByItself(openBudget(resend, movesMoneyAtOnce), { retryAfterMs: 1_000 })).toBe(sends);
  });

  test('is not covered by "too many requests" of the create before', () => {
    const budget = openBudget('once', true);
    spend(budget, {});
    spend(budget, { retryAfterMs: 1_000 });
    expect(mayResend(SENT, budget)).toEqual(RESEND);
    spend(budget, {});
    expect(mayResend(SENT, budget)).toEqual(person());
  });
});

describe('of all combinations', () => {
  const both = [false, true];
  const settlings = [undefined, CONFLICT, ...[0, 1].map((atSwitch) => ({ ...ABSENT, atSwitch }))];
  const evidences = both.flatMap((cancelRequested) =>
    both.flatMap((isLate) =>
      both.flatMap((accountUnknown) =>
        both.flatMap((mayBeReplaced) =>
          both.flatMap((earlierInDoubt) =>
            [0, 1].flatMap((accountSwitches) =>
              settlings.map((settled) => ({
                ...SENT,
                ...{ cancelRequested, isLate, accountUnknown, mayBeReplaced, earlierInDoubt, accountSwitches, settled },
              })),
            ),
          ),
        ),
      ),
    ),
  );

  test('exactly one has a create sent again without a person', () => {
    const answers = evidences.map((evidence) => mayResend(evidence, LEFT));
    expect(answers).toHaveLength(256);
    expect(answers.filter(({ answer }) => answer === 'yes')).toEqual([RESEND]);
  });

  test('none without budget', () => {
    expect(evidences.filter((evidence) => mayResend(evidence, USED_UP).answer === 'yes')).toEqual([]);
  });
});
