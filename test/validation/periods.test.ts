import { describe, expect, it } from 'vitest';
import { fileOfPeriod, isPeriod, periodAt } from '../../src/validation/batch-input.js';

describe('the period of a moment', () => {
  it.each([
    ['2026-11-27T09:00:00Z', 'UTC', '2026-11-27', '2026-11-27T09-00'],
    ['2026-11-27T23:30:00Z', 'UTC', '2026-11-27', '2026-11-27T23-30'],
    ['2026-11-27T23:30:00Z', 'Europe/Berlin', '2026-11-28', '2026-11-28T00-30'],
    ['2026-11-27T03:30:00Z', 'America/New_York', '2026-11-26', '2026-11-26T22-30'],
    ['2026-11-26T18:15:00Z', 'Asia/Kathmandu', '2026-11-27', '2026-11-27T00-00'],
    // The night that has no 2:30.
    ['2026-03-29T00:30:00Z', 'Europe/Berlin', '2026-03-29', '2026-03-29T01-30'],
    ['2026-03-29T01:30:00Z', 'Europe/Berlin', '2026-03-29', '2026-03-29T03-30'],
    // The night that has it twice: the same period, so the second run finds the first one's batch.
    ['2026-10-25T00:30:00Z', 'Europe/Berlin', '2026-10-25', '2026-10-25T02-30'],
    ['2026-10-25T01:30:00Z', 'Europe/Berlin', '2026-10-25', '2026-10-25T02-30'],
    ['2026-01-01T00:00:00Z', 'Pacific/Honolulu', '2025-12-31', '2025-12-31T14-00'],
  ])('%s in %s', (at, timeZone, date, minute) => {
    expect(periodAt(new Date(at), timeZone, 'date')).toBe(date);
    expect(periodAt(new Date(at), timeZone, 'minute')).toBe(minute);
  });

  it('is one that a trigger may name', () => {
    const at = new Date('2026-11-27T23:59:00Z');
    for (const format of ['date', 'minute'] as const) {
      expect(isPeriod(periodAt(at, 'Asia/Tokyo', format), format)).toBe(true);
    }
  });
});

describe('a period that is given', () => {
  it.each(['2026-02-29', '2026-13-01', '2026-11-00', '26-11-27', '2026-11-27 ', '2026-11-27T10-00', '../../etc', ''])(
    'is no date: %j',
    (text) => {
      expect(isPeriod(text, 'date')).toBe(false);
    },
  );

  it.each(['2026-11-27', '2026-11-27T24-00', '2026-11-27T10-60', '2026-11-27T10:00', '2026-02-30T10-00'])(
    'is no minute: %j',
    (text) => {
      expect(isPeriod(text, 'minute')).toBe(false);
    },
  );

  it('is filled in wherever the pattern has it', () => {
    expect(fileOfPeriod('{period}/payroll-{period}.csv', '2026-11-27')).toBe('2026-11-27/payroll-2026-11-27.csv');
  });
});
