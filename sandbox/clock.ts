/** Writes a time (ms since the epoch) as the service does: `Y-m-d H:i:s`, in UTC. */
export const dateTime = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

/** The time (ms since the epoch) of a date as the service writes it. */
export const dateTimeMs = (value: string): number => Date.parse(`${value.replace(' ', 'T')}Z`);

/** True for a real date in the form `Y-m-d H:i:s`. */
export function isDateTime(value: string): boolean {
  if (!/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(value)) return false;
  const ms = dateTimeMs(value);
  // Dates like 30 February parse, but come back as another day.
  return !Number.isNaN(ms) && dateTime(ms) === value;
}
