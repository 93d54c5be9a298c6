import { expect, test } from 'vitest';
import { KeyRefusals } from '../../src/activities/key-refusals.js';

const MINUTE_MS = 60_000;

test('tells a run at once, and again ever more rarely, since a key may be refused for one operation alone', () => {
  const refusals = new KeyRefusals();
  const toldAt: number[] = [];
  for (let minute = 0; minute < 100; minute += 1) {
    if (refusals.mayTell('run', minute * MINUTE_MS)) toldAt.push(minute);
  }
  expect(toldAt).toEqual([0, 1, 5, 21, 85]);
});

test('tells ten runs a minute, whatever the others ask', () => {
  const refusals = new KeyRefusals();
  const asked = (minute: number) =>
    Array.from({ length: 5_000 }, (_, at) => refusals.mayTell(`run-${at}`, minute * MINUTE_MS)).filter(Boolean).length;
  expect([asked(0), asked(0.5), asked(1), asked(2)]).toEqual([10, 0, 10, 10]);
});
