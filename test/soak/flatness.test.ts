import { expect, test } from 'vitest';
import { chance } from '../../sandbox/chance.js';
import { judgeFlatness, soakTable } from '../../soak/flatness.js';
import type { Sample } from '../../soak/samples.js';

const MINUTES = 60;
const EVERY_MS = 30_000;

/** Value around `about`, up to a tenth more or less. */
const noisy = (about: number, what: string): number => about * (0.9 + 0.2 * chance('noise', what));

/** A run of an hour whose figures only vary, but for `change`. */
function run(change: (sample: Sample, hours: number) => Partial<Sample> = () => ({})): Sample[] {
  return Array.from({ length: (MINUTES * 60_000) / EVERY_MS }, (_, n) => {
    const figures = (name: string) => ({ memory: noisy(250, `${name} ${n}`), descriptors: 40 });
    const times = (about: number) => Array.from({ length: 30 }, (_, i) => noisy(about, `${about} ${n} ${i}`));
    const sample: Sample = {
      ...{ atMs: n * EVERY_MS, open: noisy(25, `open ${n}`), backlog: 0, ended: n * 90, databaseMb: n * 1.8 },
      processes: { 'worker-3': figures('worker'), receiver: figures('receiver'), api: figures('api') },
      ...{ endMs: times(6_000), answerMs: times(900), events: times(23), bytes: times(9_000) },
    };
    return { ...sample, ...change(sample, n / 120) };
  });
}

const findings = (samples: readonly Sample[]): string[] =>
  judgeFlatness(soakTable(samples, 0, MINUTES * 60_000, 'an hour')).flatMap(({ name, findings: [first] }) =>
    first ? [name] : [],
  );

test('a run whose figures only vary is flat', () => {
  expect(findings(run())).toEqual([]);
});

test('a run without a kill of Temporal in it is as flat as one whose samples then lack its figures', () => {
  expect(
    findings(run((_, hours) => (hours % 0.15 < 0.01 ? { open: undefined, ended: undefined, endMs: [] } : {}))),
  ).toEqual([]);
});

const GROWING: [name: string, change: (sample: Sample, hours: number) => Partial<Sample>][] = [
  [
    'worker, resident',
    ({ processes }, hours) => ({
      processes: { ...processes, 'worker-3': { memory: 250 * (1 + hours), descriptors: 40 } },
    }),
  ],
  [
    'worker, descriptors',
    ({ processes }, hours) => ({
      processes: { ...processes, 'worker-3': { memory: 250, descriptors: 40 + 60 * hours } },
    }),
  ],
  ['open orders', (_, hours) => ({ open: 25 + 60 * hours })],
  ['backlog, tasks', (_, hours) => ({ backlog: 60 * hours })],
  ['database an order', (_, hours) => ({ databaseMb: 200 * hours ** 2 })],
  ['bytes of history, p50', (_, hours) => ({ bytes: [9_000 * (1 + hours)] })],
  ['start to end, p50', ({ endMs }, hours) => ({ endMs: endMs.map((ms, n) => (n < 28 ? ms * (1 + hours) : 20_000)) })],
];

test.each(GROWING)('a growing series is named: %s', (name, change) => {
  expect(findings(run(change))).toContain(`not flat: ${name}`);
});

test('a figure that was not measured at the end is a finding', () => {
  const cut = run((_, hours) => (hours >= 5 / 6 ? { answerMs: [] } : {}));
  expect(findings(cut)).toEqual(['p50', 'p95', 'p99'].map((name) => `not flat: start to first answer, ${name}`));
});
