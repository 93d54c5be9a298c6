import type { Payload } from '@temporalio/common';

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

/** What the server's pages show of a workflow: a batch says there who started it. Encrypted like a payload. */
export const FOR_PEOPLE = 'a summary or the details';

/** Fields that are shown in clear, and stored so even with payload encryption on but for those that name payloads. */
const CLEAR_PLACES: Readonly<Record<string, string>> = {
  workflowId: 'a workflow id',
  searchAttributes: 'a search attribute',
  userMetadata: FOR_PEOPLE,
  memo: 'a memo',
  failure: 'a failure message',
  lastFailure: 'a failure message',
};

/** Where a text is shown in clear; undefined for inputs, results and the like. */
export function clearPlaceOf({ path }: Text): string | undefined {
  const place = path.find((name) => Object.hasOwn(CLEAR_PLACES, name));
  return place && CLEAR_PLACES[place];
}

/** Every payload of a value, at any depth. */
export function payloadsOf(value: unknown): Payload[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  if ('metadata' in value && 'data' in value) return [value as Payload];
  return Object.values(value).flatMap((item) => payloadsOf(item));
}
