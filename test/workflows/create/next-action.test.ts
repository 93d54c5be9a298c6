import { expect, test } from 'vitest';
import { applyOutcome, type Outcome } from '../../../src/workflows/create/apply-outcome.js';
import { type Doubt, type Facts, MAX_ROUNDS, openFacts, type Seen } from '../../../src/workflows/create/facts.js';
import { type Action, type End, nextAction, type Question } from '../../../src/workflows/create/next-action.js';

test('a stopped order whose start time has passed waits for the resume before it asks a person', () => {
  const facts = { ...openFacts('once', true), late: 'delayed' as const };
  const stopped = { ...facts, notSent: { why: 'the account is stopped', asks: false, isStopped: true as const } };
  expect(nextAction(stopped, { movesMoneyAtOnce: true })).toEqual({ do: 'await resume' });
  // After the resume, its attempt only checks it and finds that it is late.
  const late = { ...facts, notSent: { why: 'it is late', asks: false } };
  expect(nextAction(late, { movesMoneyAtOnce: true })).toEqual({ do: 'ask', about: { kind: 'late' } });
});

const after = (facts: Facts, ...outcomes: Outcome[]): Facts => outcomes.reduce(applyOutcome, facts);

test.each([
  ['without a connection', MAX_ROUNDS.notSent, false],
  ['of "too many requests"', MAX_ROUNDS.excused, true],
] as const)('an unsent order ends once an operator closes it after many rounds %s', (_, rounds, isLimited) => {
  const notSent: Outcome = { kind: 'notSent', why: 'no connection', waitMs: 500, isLimited };
  const facts = after(openFacts('once', true), ...Array.from({ length: rounds }, () => notSent));
  expect(nextAction(facts, { movesMoneyAtOnce: true })).toMatchObject({ do: 'ask', about: { kind: 'notSent' } });
  const closed = after(facts, { kind: 'closing', by: 'ann', atMs: 0 });
  expect(nextAction(closed, { movesMoneyAtOnce: true })).toMatchObject({ do: 'prove absence' });
});

const WINDOW_MS = 100;
const AT_ONCE = { movesMoneyAtOnce: true };

/** An unclear create at that place; its absence is read over a window, beside a later order if there is one. */
function unclear(place: Doubt['place'] = 'asked', later?: true): Outcome[] {
  const doubt: Doubt = { cause: 'uncertainCreate', untilMs: 0, place, said: 'HTTP 500' };
  return [{ kind: 'doubted', doubt, costs: { isLimited: false } }, ...readings(later)];
}

function readings(later?: true): Outcome[] {
  const seen: Seen = { kind: 'absent', control: { whole: true, ...(later && { later }) } };
  return [0, WINDOW_MS / 2, WINDOW_MS].map((atMs) => ({
    ...{ kind: 'read', seen, readIn: 'a run', windowMs: WINDOW_MS },
    reading: { askedAtMs: atMs, answeredAtMs: atMs, readAtMs: atMs },
  }));
}

/** The same in an outage that ends before the window does: only the first reading tells of it. */
const inOutage = (): Outcome[] =>
  unclear('asked', true).map((outcome, n) =>
    outcome.kind === 'read' && n === 1
      ? { ...outcome, seen: { kind: 'absent', control: { whole: true, othersFail: true } } }
      : outcome,
  );

const REFUSED: Outcome = { kind: 'refused', answer: 'HTTP 400', atMs: 0, place: 'asked' };
const CLOSING: Outcome = { kind: 'closing', by: 'ann', atMs: 0 };

test.each<[string, Facts, Partial<Action>]>([
  [
    'is sent again as what was sent before',
    after(openFacts('once', true), ...unclear('asked', true)),
    { do: 'attempt', permission: 'absent' },
  ],
  [
    'is not sent again without a later order',
    after(openFacts('once', true), ...unclear()),
    { do: 'ask', about: { kind: 'uncertain', waitsFor: 'a later order' } as Question },
  ],
  [
    'is sent again by itself once only',
    after(openFacts('once', true), ...unclear('asked', true), ...unclear('asked', true)),
    { do: 'ask' },
  ],
  [
    'is sent again after each of many outages that are shorter than the window',
    after(openFacts('once', true), ...inOutage(), ...inOutage(), ...inOutage(), ...inOutage()),
    { do: 'attempt', permission: 'absent' },
  ],
  [
    'is never sent again by itself if its starter says so',
    after(openFacts('never', true), ...unclear('asked', true)),
    { do: 'ask' },
  ],
  [
    'that was sent twice is not believed to be refused without a later order',
    after(openFacts('once', true), ...unclear('asked', true), REFUSED, ...readings()),
    { do: 'ask' },
  ],
  [
    'does not end without a doubt if the place of its last create is unknown',
    after(openFacts('once', true), ...unclear(), ...unclear('unknown'), CLOSING, ...readings()),
    { do: 'end', as: { type: 'closed', doubt: 'place' } as End },
  ],
])('a payout in doubt %s', (_, facts, action) => {
  expect(nextAction(facts, AT_ONCE)).toMatchObject(action);
});

test('a stopped account keeps no order in doubt from being looked up, nor a person from being asked', () => {
  const STOPPED: Outcome = { kind: 'stopped', why: 'it is stopped' };
  const doubt = { cause: 'uncertainCreate', untilMs: 0, place: 'asked', said: 'HTTP 500' } as const;
  const inDoubt = after(openFacts('once', true), { kind: 'doubted', doubt }, STOPPED);
  expect(nextAction(inDoubt, AT_ONCE)).toMatchObject({ do: 'prove absence' });
  const absent = after(openFacts('once', true), ...unclear('unknown'), STOPPED);
  expect(nextAction(absent, AT_ONCE)).toMatchObject({ do: 'ask', about: { kind: 'uncertain' } });
});

test('a callback after a send is looked into while the account is stopped', () => {
  const doubt = { cause: 'uncertainCreate', untilMs: 0, place: 'asked', said: 'HTTP 500' } as const;
  const stopped = after(openFacts('once', true), { kind: 'doubted', doubt }, { kind: 'stopped', why: 'it is stopped' });
  const called = after(stopped, { kind: 'callback', atMs: 0 }, { kind: 'seen', seen: { kind: 'absent' } });
  expect(nextAction(called, { movesMoneyAtOnce: true })).toMatchObject({ do: 'prove absence' });
});
