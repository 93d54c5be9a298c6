import type { CalendarSpecDescription } from '@temporalio/client';
import { expect, test } from 'vitest';
import { calendarText } from '../../src/starter/schedule-verbs.js';

const span = <T>(start: T, end: T = start, step = 1) => ({ start, end, step });

/** As Temporal shows a cron expression with all parts that are left out as `*`. */
const calendarOf = (parts: Partial<CalendarSpecDescription>): CalendarSpecDescription => ({
  second: [span(0)],
  minute: [span(0)],
  hour: [span(10)],
  dayOfMonth: [span(1, 31)],
  month: [span('JANUARY', 'DECEMBER')],
  dayOfWeek: [span('SUNDAY', 'SATURDAY')],
  year: [],
  ...parts,
});

test.for<[time: string, parts: Partial<CalendarSpecDescription>, words: string]>([
  [
    '0 10 1,15 * FRI',
    { dayOfMonth: [span(1), span(15)], dayOfWeek: [span('FRIDAY')] },
    'on the 1st and 15th if a Friday',
  ],
  ['0 10 * * *', {}, 'every day'],
  ['0 10 * * MON-FRI', { dayOfWeek: [span('MONDAY', 'FRIDAY')] }, 'on Monday to Friday'],
  ['30 9 31 * *', { dayOfMonth: [span(31)] }, 'on the 31st; months without day 31 are skipped'],
  [
    '0 9 29,30 2 ?',
    { dayOfMonth: [span(29), span(30)], month: [span('FEBRUARY')] },
    'on the 29th and 30th in February; months without day 29 or 30 are skipped',
  ],
  [
    '0 10 2-22/10 JAN,7 0',
    { dayOfMonth: [span(2, 22, 10)], month: [span('JANUARY'), span('JULY')], dayOfWeek: [span('SUNDAY')] },
    'on the 2nd to 22nd, every 10th if a Sunday in January and July',
  ],
])('%s means %s', ([, parts, words]) => {
  expect(calendarText(calendarOf(parts))).toBe(words);
});
