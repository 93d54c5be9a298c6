import { expect, test } from 'vitest';
import { applyOutcome, type Outcome } from '../../../src/workflows/create/apply-outcome.js';
import { type Facts, MAX_ROUNDS, openFacts } from '../../../src/workflows/create/facts.js';
import { nextAction } from '../../../src/workflows/create/next-action.js';

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

test('a callback after a send is looked into while the account is stopped', () => {
  const doubt = { cause: 'uncertainCreate', untilMs: 0, place: 'asked', said: 'HTTP 500' } as const;
  const stopped = after(openFacts('once', true), { kind: 'doubted', doubt }, { kind: 'stopped', why: 'it is stopped' });
  const called = after(stopped, { kind: 'callback', atMs: 0 }, { kind: 'seen', seen: { kind: 'absent' } });
  expect(nextAction(called, { movesMoneyAtOnce: true })).toMatchObject({ do: 'prove absence' });
});
