import { expect, test } from 'vitest';
import { type AbsentReading, applyReading, type Proof } from '../../../src/workflows/create/absence-proof.js';

const WINDOW_MS = 100;

/** Reads absence at these times of the server and of the worker; returns after which readings it is proven. */
function provenAfter(start: Parameters<typeof applyReading>[1], readings: [serverMs: number, workerMs: number][]) {
  let before: Proof | undefined;
  return readings.map(([serverMs, readAtMs]) => {
    const times = { askedAtMs: serverMs, answeredAtMs: serverMs, readAtMs };
    const reading: AbsentReading = { ...times, control: { whole: true } };
    const { proof, isProven } = applyReading(before, start, reading, WINDOW_MS);
    before = proof;
    return isProven;
  });
}

const PASSED = [0, 50, 100] as const;

test.each([
  ['both pass the window', [0, 50, 100], [0, 50, 100], [false, false, true]],
  ["the server's jumps", [0, 500, 1_000], [0, 1, 2], [false, false, false]],
  ["the worker's jumps", [0, 1, 2], [0, 500, 1_000], [false, false, false]],
  ["the worker's passes it later", [0, 500, 1_000, 1_500], [0, 1, 2, 100], [false, false, false, true]],
  ['it takes three readings', [0, 100], [0, 100], [false, false]],
] as const)('absence needs the window by both clocks: %s', (_, server, worker, proven) => {
  const readings = server.map((ms, n): [number, number] => [ms, worker[n] ?? 0]);
  expect(provenAfter({ untilMs: 0 }, readings)).toEqual(proven);
});

test('the window begins with the first reading after the time at which an earlier create may still arrive', () => {
  const early = PASSED.map((ms): [number, number] => [ms, ms]);
  const later = [...PASSED, 150].map((ms): [number, number] => [ms + 110, ms + 110]);
  expect(provenAfter({ untilMs: 110 }, [...early, ...later])).toEqual([
    ...[false, false, false],
    ...[false, false, true, true],
  ]);
});
