import type { CalendarSpecDescription } from '@temporalio/client';
import { expect, test } from 'vitest';
import { calendarText } from '../../src/starter/calendar-text.js';

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
    'at 10:00 on the 1st and 15th if a Friday',
  ],
  ['0 10 * * FRI', { dayOfWeek: [span('FRIDAY')] }, 'at 10:00 on Friday'],
  [
    '30 9 31 * *',
    { minute: [span(30)], hour: [span(9)], dayOfMonth: [span(31)] },
    'at 09:30 on the 31st; months without day 31 are skipped',
  ],
  [
    '0 9 29,30 2 ?',
    { hour: [span(9)], dayOfMonth: [span(29), span(30)], month: [span('FEBRUARY')] },
    'at 09:00 on the 29th and 30th in February; months without day 29 or 30 are skipped',
  ],
  ['0 8,20 * * *', { hour: [span(8), span(20)] }, 'at 08:00 and 20:00 every day'],
  ['0 10 * * MON-FRI', { dayOfWeek: [span('MONDAY', 'FRIDAY')] }, 'at 10:00 on Monday to Friday'],
  ['0 10 1-15 * *', { dayOfMonth: [span(1, 15)] }, 'at 10:00 on the 1st to 15th'],
  [
    '0 10 2-22/10 JAN,7 0',
    { dayOfMonth: [span(2, 22, 10)], month: [span('JANUARY'), span('JULY')], dayOfWeek: [span('SUNDAY')] },
    'at 10:00 on the 2nd to 22nd, every 10th if a Sunday in January and July',
  ],
  ['*/15 * * * *', { minute: [span(0, 59, 15)], hour: [span(0, 23)] }, 'every 15 minutes every day'],
  [
    '0 0 29 2 * 2091',
    { hour: [span(0)], dayOfMonth: [span(29)], month: [span('FEBRUARY')], year: [span(2091)] },
    'at 00:00 on the 29th in February of 2091; months without day 29 are skipped',
  ],
  ['5 0 10 3 * * *', { second: [span(5)], dayOfMonth: [span(3)] }, 'at 10:00:05 on the 3rd'],
])('%s means %s', ([, parts, words]) => {
  expect(calendarText(calendarOf(parts))).toBe(words);
});
