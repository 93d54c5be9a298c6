const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

const list = new Intl.ListFormat('en');
const plural = new Intl.PluralRules('en', { type: 'ordinal' });
const SUFFIXES: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd' };
const ordinal = (day: string): string => `${day}${SUFFIXES[plural.select(Number(day))] ?? 'th'}`;

const isEvery = (text: string): boolean => text === '*' || text === '?';

/** The full name that a number or an abbreviation means: `FRI` and `5` are Friday. */
function nameIn(names: readonly string[], first: number) {
  return (text: string): string => {
    const byNumber = /^\d+$/.test(text) ? names[Number(text) - first] : undefined;
    return byNumber ?? names.find((name) => name.toLowerCase().startsWith(text.toLowerCase().slice(0, 3))) ?? text;
  };
}

/** A part of a time in words: `1,15` and `1-5/2`, each value as `shown` writes it. */
const inWords = (text: string, shown: (value: string) => string): string =>
  list.format(
    text.split(',').map((item) => {
      const [range = '', step] = item.split('/');
      const [from = '', to] = range.split('-');
      const values = isEvery(range) ? '' : to === undefined ? shown(from) : `${shown(from)} to ${shown(to)}`;
      if (step === undefined) return values;
      return `${values && `${values}, `}every ${ordinal(step)}`;
    }),
  );

const twoDigits = (text: string): string => text.padStart(2, '0');

function clock(second: string, minute: string, hour: string): string {
  if (/^\d+$/.test(minute) && /^[\d,]+$/.test(hour) && /^\d+$/.test(second)) {
    const seconds = Number(second) === 0 ? '' : `:${twoDigits(second)}`;
    return `at ${list.format(hour.split(',').map((one) => `${twoDigits(one)}:${twoDigits(minute)}${seconds}`))}`;
  }
  const [, step] = /^[*?]\/(\d+)$/.exec(minute) ?? [];
  if (step && isEvery(hour)) return `every ${step} minutes`;
  const minutes = isEvery(minute) ? 'every minute' : `minute ${inWords(minute, String)}`;
  return `${minutes} of ${isEvery(hour) ? 'every hour' : `hour ${inWords(hour, String)}`}`;
}

function dates(day: string, weekday: string): string {
  const weekdays = isEvery(weekday) ? undefined : inWords(weekday, nameIn(DAYS, 0));
  if (isEvery(day)) return weekdays ? `on ${weekdays}` : 'every day';
  // Unlike in other cron programs, both must hold.
  return `on the ${inWords(day, ordinal)}${weekdays ? ` if a ${weekdays}` : ''}`;
}

/** Says which months have no such day, for days that some months lack. */
function skipped(day: string): string {
  const late = day.split(',').filter((one) => /^(29|30|31)$/.test(one));
  return late.length === 0 ? '' : `; months without day ${late.join(' or ')} are skipped`;
}

interface Parts {
  second: string;
  minute: string;
  hour: string;
  dayOfMonth: string;
  month: string;
  dayOfWeek: string;
  year: string;
}

const NAMES = ['second', 'minute', 'hour', 'dayOfMonth', 'month', 'dayOfWeek', 'year'] as const;

function partsOf(time: string): Parts | undefined {
  const parts: Parts = { second: '0', minute: '0', hour: '0', dayOfMonth: '*', month: '*', dayOfWeek: '*', year: '*' };
  const fields = time.trim().split(/ +/);
  if (fields.length < 5 || fields.length > 7) return undefined;
  const names = fields.length === 7 ? NAMES : NAMES.slice(1);
  return { ...parts, ...Object.fromEntries(fields.map((field, index) => [names[index], field])) };
}

/** Explains a cron expression: `at 10:00 on the 1st and 15th if a Friday`; undefined for other texts. */
export function calendarText(time: string): string | undefined {
  const parts = partsOf(time);
  if (!parts) return undefined;
  const { second, minute, hour, dayOfMonth, month, dayOfWeek, year } = parts;
  const months = isEvery(month) ? '' : ` in ${inWords(month, nameIn(MONTHS, 1))}`;
  const years = isEvery(year) ? '' : ` of ${inWords(year, String)}`;
  return `${clock(second, minute, hour)} ${dates(dayOfMonth, dayOfWeek)}${months}${years}${skipped(dayOfMonth)}`;
}
