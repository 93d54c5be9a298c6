/** Writes a time (ms since the epoch) as the service does: `Y-m-d H:i:s`, in UTC. */
export const dateTime = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

/** True for a real date in the form `Y-m-d H:i:s`. */
export function isDateTime(value: string): boolean {
  if (!/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(value)) return false;
  const ms = Date.parse(`${value.replace(' ', 'T')}Z`);
  // Dates like 30 February parse, but come back as another day.
  return !Number.isNaN(ms) && dateTime(ms) === value;
}
