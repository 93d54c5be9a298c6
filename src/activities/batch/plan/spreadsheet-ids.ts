import { CUT_NUMBER } from '../../../validation/field-texts.js';

/* Spreadsheets read ids such as DEC-1, MAR26 or 73928e05 as dates and numbers, and write 1-Dec. */

/** Languages whose month names may stand in an id. */
const LANGUAGES = 'en de fr es it nl pt pl sv da nb fi cs tr'.split(' ');

function monthNames(language: string, month: 'short' | 'long'): string[] {
  const names = new Intl.DateTimeFormat(language, { month, timeZone: 'UTC' });
  return Array.from({ length: 12 }, (_, index) => names.format(Date.UTC(2026, index)).replace('.', ''));
}

const [SHORT, LONG] = [monthNames('en', 'short'), monthNames('en', 'long')];

const MONTH_OF: ReadonlyMap<string, number> = new Map([
  ['sept', 9],
  ...LANGUAGES.flatMap((language) => [monthNames(language, 'short'), monthNames(language, 'long')]).flatMap((names) =>
    names.map((name, index) => [name.toLowerCase(), index + 1] as const),
  ),
]);

/** A day of any year, a month of a year, or both. */
interface Reading {
  month: number;
  day?: number;
  year?: number;
}

/** Serial numbers of the days from 2000 to 2099, and that of 1970. */
const SERIALS = { first: 36_526, last: 73_050, of1970: 25_569 };
const DAY_MS = 86_400_000;

/** Returns the dates as which a spreadsheet may read an id, or that it shows so. */
function readingsOf(id: string): Reading[] {
  const found = /^\d{5}$/.test(id) ? serialReading(Number(id)) : partReadings(id);
  return found.filter(({ month, day = 1 }) => month >= 1 && month <= 12 && day >= 1 && day <= 31);
}

function serialReading(serial: number): Reading[] {
  if (serial < SERIALS.first || serial > SERIALS.last) return [];
  const date = new Date((serial - SERIALS.of1970) * DAY_MS);
  return [{ month: date.getUTCMonth() + 1, day: date.getUTCDate(), year: date.getUTCFullYear() }];
}

/** Returns the readings of numbers, and of a month's name with one or two. */
function partReadings(id: string): Reading[] {
  if (!/^[a-z0-9]+(?:[-.][a-z0-9]+)*$/i.test(id)) return [];
  const parts = id.toLowerCase().match(/\d+|[a-z]+/g) ?? [];
  const numbers = parts.filter((part) => /^\d{1,4}$/.test(part));
  const names = parts.filter((part) => /^[a-z]/.test(part));
  const [first = 0, second = 0, third = 0] = numbers.map(Number);
  const isYear = (at: number, digits = 2) => numbers[at]?.length === digits || numbers[at]?.length === 4;
  const month = MONTH_OF.get(names[0] ?? '');
  switch (`${names.length} ${numbers.length} of ${parts.length}`) {
    case '1 1 of 2':
      return month ? [{ month, day: first }, ...(isYear(0) ? [{ month, year: first }] : [])] : [];
    case '1 2 of 3':
      return month ? [{ month, day: first, year: second }] : [];
    case '0 2 of 2':
      return [
        { month: first, day: second },
        { month: second, day: first },
        ...(isYear(1, 4) ? [{ month: first, year: second }] : []),
        ...(isYear(0, 4) ? [{ month: second, year: first }] : []),
      ];
    case '0 3 of 3':
      if (isYear(0, 4)) return [{ year: first, month: second, day: third }];
      return isYear(2) ? [first, second].map((one) => ({ month: one, day: first + second - one, year: third })) : [];
    default:
      return [];
  }
}

/** Number that an id with an exponent, such as 73928e05, becomes. */
function expanded(id: string): string | undefined {
  const [, whole = '', decimals = '', exponent = ''] = /^(\d+)(?:\.(\d+))?e(\d{1,2})$/i.exec(id) ?? [];
  const zeros = Number(exponent) - decimals.length;
  const digits = (whole + decimals).replace(/^0+(?=\d)/, '');
  return whole && zeros >= 0 && digits.length + zeros <= 20 ? digits + '0'.repeat(zeros) : undefined;
}

const cut = (id: string): string | undefined =>
  /^[1-9]\d{15,}$/.test(id) ? id.slice(0, 15).padEnd(id.length, '0') : undefined;

/** Forms in which spreadsheets write dates, times and changed numbers. */
const DATE = /^(?:\d{1,2}[-.])?(?!\d|[A-Z]{2})[A-Za-z]{3,}[-.]\d{2}(?:\d\d)?$|^\d{1,2}[-.](?![A-Z]{2})[A-Za-z]{3,}$/;
const FULL_DATE = /^\d{1,2}([-.])\d{1,2}\1\d{2}(?:\d\d)?$|^\d{4}-\d{1,2}-\d{1,2}$/;
const NUMBER = /^[1-9]\d+000$/;
const TIME = /^(\d{1,2}):(\d{1,2})(?::(\d{1,2}))?$/;

/** Returns true for an id that reads as a date, time or number that a spreadsheet wrote. */
export const isOfSpreadsheet = (id: string): boolean =>
  NUMBER.test(id) ||
  CUT_NUMBER.test(id) ||
  /^\d{1,2}:\d\d(?::\d\d)?$/.test(id) ||
  ((DATE.test(id) || FULL_DATE.test(id)) && readingsOf(id).length > 0);

/** Reading of an id by a spreadsheet. `written`: its own form of that, if the id has it. */
export interface SheetKey {
  key: string;
  written: string | undefined;
}

/** Returns the readings of an id by spreadsheets. Two ids that share a key may be one id. */
export function sheetKeys(id: string): SheetKey[] {
  const isSerial = /^\d{5}$/.test(id);
  const form = id.replace(/[A-Za-z]+/g, 'a').replace(/\d+/g, (digits) => (digits.length > 2 ? 'y' : '9'));
  const ofDate = isSerial || isOfSpreadsheet(id) ? form : undefined;
  const dates = readingsOf(id).flatMap(({ month, day, year }) => [
    ...(day === undefined ? [] : [`d${month}-${day}`]),
    ...(year !== undefined && (day ?? 1) === 1 ? [`m${year % 100}-${month}`] : []),
  ]);
  const number = expanded(id) ?? (/^[1-9]\d*0$/.test(id) ? id : undefined);
  const long = cut(id);
  const [, hour = '', minute, second = 0] = TIME.exec(id) ?? [];
  return [
    ...dates.map((key) => ({ key, written: ofDate })),
    ...(number ? [{ key: `n${number}`, written: number === id ? 'number' : undefined }] : []),
    ...(hour ? [{ key: `t${Number(hour)}:${Number(minute)}:${Number(second)}`, written: ofDate }] : []),
    ...(long ? [{ key: `c${long}`, written: long === id ? 'cut' : undefined }] : []),
  ];
}

/** Returns true if two ids with the same key may have been made of one. */
export const areOneId = (a: SheetKey, b: SheetKey): boolean => a.key === b.key && a.written !== b.written;

const padded = (number: number): string => `${number}`.padStart(2, '0');
const both = (number: number): string[] => [...new Set([`${number}`, padded(number)])];

/** Returns the ids that a spreadsheet may have made this one of, or makes of it. */
export function sheetForms(id: string): string[] {
  const zeros = /^[1-9]\d*?(0+)$/.exec(id)?.[1]?.length ?? 0;
  const powers = Array.from({ length: Math.min(zeros, 15) }, (_, index) => index + 1).flatMap((power) =>
    both(power).flatMap((exponent) => ['e', 'E'].map((sign) => `${id.slice(0, -power)}${sign}${exponent}`)),
  );
  // Most numbers of five digits are no dates.
  const dates = /^\d+$/.test(id) ? [] : readingsOf(id).flatMap((reading) => dateForms(id, reading));
  const [, hour = '', minute, second = 0] = TIME.exec(id) ?? [];
  const hours = hour === '' ? [] : both(Number(hour)).map((at) => `${at}:${padded(Number(minute))}`);
  const times = hours.flatMap((time) => [time, `${time}:${padded(Number(second))}`]);
  return [expanded(id) ?? [], cut(id) ?? [], powers, dates, times].flat();
}

function dateForms(id: string, { month, day, year }: Reading): string[] {
  const thisYear = new Date().getUTCFullYear();
  const own = id.match(/[A-Za-z]+/)?.[0] ?? [];
  const words = [own, SHORT[month - 1] ?? [], LONG[month - 1] ?? []].flat();
  const names = [
    ...new Set(words.flatMap((word) => [word, word.toUpperCase(), word.toLowerCase()])),
    ...(month === 9 ? ['SEPT', 'Sept'] : []),
  ];
  const named = (number: string) => names.flatMap((name) => [`${name}-${number}`, `${name}${number}`]);
  const years = (year === undefined ? [thisYear, thisYear - 1] : [year < 100 ? 2000 + year : year]).map(String);
  const full = years.flatMap((at) => fullForms(at, month, day ?? 1));
  if (day === undefined) {
    const monthly = (at: string) => both(month).flatMap((number) => [`${number}-${at}`, `${at}-${number}`]);
    return [...full, ...years.flatMap((at) => [...named(at), ...named(at.slice(2)), ...monthly(at)])];
  }
  const days = both(day).flatMap((at) => [...named(at), ...names.flatMap((name) => [`${at}-${name}`, `${at}${name}`])]);
  const numeric = both(day).flatMap((d) =>
    both(month).flatMap((m) => [`${d}-${m}`, `${m}-${d}`, `${d}.${m}`, `${m}.${d}`]),
  );
  return [...full, ...days, ...numeric];
}

function fullForms(year: string, month: number, day: number): string[] {
  const serial = Date.UTC(Number(year), month - 1, day) / DAY_MS + SERIALS.of1970;
  const name = SHORT[month - 1];
  const pairs = [
    [padded(day), padded(month)],
    [`${day}`, `${month}`],
  ] as const;
  const numeric = pairs.flatMap(([d, m]) => [
    `${d}-${m}-${year}`,
    `${m}-${d}-${year}`,
    `${year}-${m}-${d}`,
    `${d}.${m}.${year}`,
  ]);
  return [...numeric, `${day}-${name}-${year}`, `${day}-${name}-${year.slice(2)}`, `${serial}`];
}
