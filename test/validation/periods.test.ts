import { describe, expect, it } from 'vitest';
import { fileOfPeriod, isPeriod, periodAt } from '../../src/validation/batch-input.js';

describe('the period of a moment', () => {
  it.each([
    ['2026-11-27T23:30:00Z', 'UTC', '2026-11-27', '2026-11-27T23-30'],
    ['2026-11-27T23:30:00Z', 'Europe/Berlin', '2026-11-28', '2026-11-28T00-30'],
    ['2026-11-26T18:15:00Z', 'Asia/Kathmandu', '2026-11-27', '2026-11-27T00-00'],
    // The night that has no 2:30.
    ['2026-03-29T00:30:00Z', 'Europe/Berlin', '2026-03-29', '2026-03-29T01-30'],
    ['2026-03-29T01:30:00Z', 'Europe/Berlin', '2026-03-29', '2026-03-29T03-30'],
    // The night that has it twice: the same period, so the second run finds the first one's batch.
    ['2026-10-25T00:30:00Z', 'Europe/Berlin', '2026-10-25', '2026-10-25T02-30'],
    ['2026-10-25T01:30:00Z', 'Europe/Berlin', '2026-10-25', '2026-10-25T02-30'],
  ])('%s in %s', (at, timeZone, date, minute) => {
    expect(periodAt(new Date(at), timeZone, 'date')).toBe(date);
    expect(periodAt(new Date(at), timeZone, 'minute')).toBe(minute);
  });
});

describe('a period that is given', () => {
  it.each([
    ['2026-02-29', 'date'],
    ['2026-11-00', 'date'],
    ['26-11-27', 'date'],
    ['2026-11-27T10-00', 'date'],
    ['../../etc', 'date'],
    ['', 'date'],
    ['2026-11-27', 'minute'],
    ['2026-11-27T24-00', 'minute'],
    ['2026-11-27T10:00', 'minute'],
  ] as const)('%j is no %s', (text, format) => {
    expect(isPeriod(text, format)).toBe(false);
  });

  it('is filled in wherever the pattern has it', () => {
    expect(isPeriod('2026-11-27', 'date') && isPeriod('2026-11-27T10-00', 'minute')).toBe(true);
    expect(fileOfPeriod('{period}/payroll-{period}.csv', '2026-11-27')).toBe('2026-11-27/payroll-2026-11-27.csv');
  });
});
