import { expect, test } from 'vitest';
import { KeyRefusals } from '../../src/activities/failures.js';

const MINUTE_MS = 60_000;

test('tells a run at once, and once', () => {
  const refusals = new KeyRefusals();
  const told = Array.from({ length: 100 }, (_, minute) => refusals.mayTell('run', minute * MINUTE_MS));
  expect(told.filter(Boolean)).toEqual([true]);
  expect(told[0]).toBe(true);
});

test('tells ten runs a minute, whatever the others ask', () => {
  const refusals = new KeyRefusals();
  const asked = (minute: number) =>
    Array.from({ length: 5_000 }, (_, at) => refusals.mayTell(`run-${at}`, minute * MINUTE_MS)).filter(Boolean).length;
  expect([asked(0), asked(0.5), asked(1), asked(2)]).toEqual([10, 0, 10, 10]);
});
