/** How a plan's periods are told: `2026-11-27`, or `2026-11-27T10-00`. */
type PeriodFormat = 'date' | 'minute';

/**
 * The period that a moment belongs to, by the clock of a time zone. An hour that is repeated when summer time ends has
 * the same periods twice, so that its second half starts nothing. Not for workflow code: time zone data changes.
 */
export function periodAt(at: Date, timeZone: string, format: PeriodFormat): string {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  }).formatToParts(at);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((one) => one.type === type)?.value ?? '';
  const date = `${part('year')}-${part('month')}-${part('day')}`;
  return format === 'date' ? date : `${date}T${part('hour')}-${part('minute')}`;
}

/** Returns true for a period as `periodAt` would tell it, on a day that exists. */
export function isPeriod(text: string, format: PeriodFormat): boolean {
  const match = /^(\d{4}-\d{2}-\d{2})(?:T([01]\d|2[0-3])-[0-5]\d)?$/.exec(text);
  if (!match || (match[2] === undefined) !== (format === 'date')) return false;
  const day = new Date(`${match[1]}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(`${match[1]}T`);
}

/** The file of a period: `{period}` filled in, wherever it stands. */
export const fileOfPeriod = (filePattern: string, period: string): string => filePattern.replaceAll('{period}', period);
