/** A text inside a history, with the names of the fields that lead to it. */
export interface Text {
  path: readonly string[];
  text: string;
}

/** Every text of a value: strings, and the bytes of payloads as text. Keys of maps (search attributes) are in the path. */
export function textsOf(value: unknown, path: readonly string[] = []): Text[] {
  if (typeof value === 'string') return [{ path, text: value }];
  if (value instanceof Uint8Array) return [{ path, text: Buffer.from(value).toString('utf8') }];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item) => textsOf(item, path));
  return Object.entries(value).flatMap(([key, item]) => textsOf(item, [...path, key]));
}

/** Fields that are stored and shown in clear even with payload encryption on. */
const CLEAR_PLACES: Readonly<Record<string, string>> = {
  workflowId: 'a workflow id',
  searchAttributes: 'a search attribute',
  userMetadata: 'a summary or the details',
  memo: 'a memo',
  failure: 'a failure message',
  lastFailure: 'a failure message',
};

/** Where a text is shown in clear; undefined for inputs, results and the like. */
export function clearPlaceOf({ path }: Text): string | undefined {
  const place = path.find((name) => Object.hasOwn(CLEAR_PLACES, name));
  return place && CLEAR_PLACES[place];
}
