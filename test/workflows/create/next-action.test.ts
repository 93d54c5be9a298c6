import { expect, test } from 'vitest';
import { openFacts } from '../../../src/workflows/create/facts.js';
import { nextAction } from '../../../src/workflows/create/next-action.js';

test('a stopped order whose start time has passed waits for the resume before it asks a person', () => {
  const facts = { ...openFacts('once', true), late: 'delayed' as const };
  const stopped = { ...facts, notSent: { why: 'the account is stopped', asks: false, isStopped: true as const } };
  expect(nextAction(stopped, { movesMoneyAtOnce: true })).toEqual({ do: 'await resume' });
  // After the resume, its attempt only checks it and finds that it is late.
  const late = { ...facts, notSent: { why: 'it is late', asks: false } };
  expect(nextAction(late, { movesMoneyAtOnce: true })).toEqual({ do: 'ask', about: { kind: 'late' } });
});
