import type { CalendarSpecDescription } from '@temporalio/client';

/** Values of a part of a calendar, as Temporal compiles a cron expression to them. */
type Ranges = readonly { start: number | string; end: number | string; step: number }[];

const list = new Intl.ListFormat('en');
const plural = new Intl.PluralRules('en', { type: 'ordinal' });
const SUFFIXES: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd' };
const ordinal = (day: number | string): string => `${day}${SUFFIXES[plural.select(Number(day))] ?? 'th'}`;
const named = (name: number | string): string => `${name}`.replace(/\B./g, (letter) => letter.toLowerCase());
const twoDigits = (value: number | string): string => `${value}`.padStart(2, '0');

const isEvery = ([first]: Ranges, start: number | string, end: number | string): boolean =>
  first?.start === start && first.end === end && first.step === 1;

const isOne = (ranges: Ranges): boolean => ranges.length === 1 && ranges.every(({ start, end }) => start === end);

const inWords = (ranges: Ranges, shown: (value: number | string) => string): string =>
  list.format(
    ranges.map(({ start, end, step }) => {
      const values = start === end ? shown(start) : `${shown(start)} to ${shown(end)}`;
      return step === 1 ? values : `${values}, every ${ordinal(step)}`;
    }),
  );

function clock({ second, minute, hour }: CalendarSpecDescription): string {
  const [firstSecond, firstMinute] = [second[0]?.start ?? 0, minute[0]?.start ?? 0];
  if (isOne(second) && isOne(minute) && hour.every(({ start, end }) => start === end)) {
    const after = `${twoDigits(firstMinute)}${firstSecond === 0 ? '' : `:${twoDigits(firstSecond)}`}`;
    return `at ${list.format(hour.map(({ start }) => `${twoDigits(start)}:${after}`))}`;
  }
  const isEveryHour = isEvery(hour, 0, 23);
  const step = minute.length === 1 && minute[0]?.end === 59 && firstMinute === 0 ? minute[0].step : 1;
  if (step > 1 && isEveryHour) return `every ${step} minutes`;
  const minutes = isEvery(minute, 0, 59) ? 'every minute' : `minute ${inWords(minute, String)}`;
  return `${minutes} of ${isEveryHour ? 'every hour' : `hour ${inWords(hour, String)}`}`;
}

/** Days of a month that some months lack, which are skipped there. */
const late = (ranges: Ranges): number[] =>
  [29, 30, 31].filter((day) =>
    ranges.some(({ start, end, step }) => day >= +start && day <= +end && (day - +start) % step === 0),
  );

/** Explains a calendar of a schedule: `at 10:00 on the 1st and 15th if a Friday`. */
export function calendarText(calendar: CalendarSpecDescription): string {
  const { dayOfMonth, month, dayOfWeek, year } = calendar;
  const weekdays = isEvery(dayOfWeek, 'SUNDAY', 'SATURDAY') ? '' : inWords(dayOfWeek, named);
  const isEveryDay = isEvery(dayOfMonth, 1, 31);
  const everyDay = weekdays ? `on ${weekdays}` : 'every day';
  // Unlike in other cron programs, both must hold.
  const days = isEveryDay ? everyDay : `on the ${inWords(dayOfMonth, ordinal)}${weekdays && ` if a ${weekdays}`}`;
  const months = isEvery(month, 'JANUARY', 'DECEMBER') ? '' : ` in ${inWords(month, named)}`;
  const years = year.length === 0 ? '' : ` of ${inWords(year, String)}`;
  const skipped = isEveryDay ? [] : late(dayOfMonth);
  const skips = skipped.length > 0 ? `; months without day ${skipped.join(' or ')} are skipped` : '';
  return `${clock(calendar)} ${days}${months}${years}${skips}`;
}
