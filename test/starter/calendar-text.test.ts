import { expect, test } from 'vitest';
import { calendarText } from '../../src/starter/calendar-text.js';

test.for<[time: string, words: string]>([
  ['0 10 1,15 * FRI', 'at 10:00 on the 1st and 15th if a Friday'],
  ['0 10 * * FRI', 'at 10:00 on Friday'],
  ['30 9 31 * *', 'at 09:30 on the 31st; months without day 31 are skipped'],
  ['0 9 29,30 2 ?', 'at 09:00 on the 29th and 30th in February; months without day 29 or 30 are skipped'],
  ['0 8,20 * * *', 'at 08:00 and 20:00 every day'],
  ['0 10 * * MON-FRI', 'at 10:00 on Monday to Friday'],
  ['0 10 2-22/10 JAN,7 0', 'at 10:00 on the 2nd to 22nd, every 10th if a Sunday in January and July'],
  ['*/15 * * * *', 'every 15 minutes every day'],
  ['0 0 29 2 * 2091', 'at 00:00 on the 29th in February of 2091; months without day 29 are skipped'],
  ['5 0 10 3 * * *', 'at 10:00:05 on the 3rd'],
])('%s means %s', ([time, words]) => {
  expect(calendarText(time)).toBe(words);
});

test.for(['set outside this program', 'every 60000 ms'])('%s has no other words', (time) => {
  expect(calendarText(time)).toBeUndefined();
});
