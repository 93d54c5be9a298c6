import { parse } from 'lossless-json';

const MARK = ' (given twice)';

/** Returns the first key that a JSON text gives twice with different values in one object. */
export function keyGivenTwice(json: string): string | undefined {
  let found: string | undefined;
  try {
    parse(json, null, {
      onDuplicateKey: ({ key }) => {
        found ??= key;
      },
    });
  } catch {
    // Whoever reads the value refuses what is no JSON or is nested too deeply.
  }
  return found;
}

/** Returns the key that `markGivenTwice` named in the name of a field, or undefined. */
export const givenTwiceIn = (field: string): string | undefined =>
  field.endsWith(MARK) ? field.slice(0, -MARK.length) : undefined;

/**
 * Returns what `JSON.parse` made of a text, with an unknown field added if the text gives a key twice: JSON.parse keeps the last
 * value. Every check of an input refuses unknown fields, and a replay schedules the same activities as before.
 */
export function markGivenTwice<T>(value: T, json: Uint8Array, decode: (json: Uint8Array) => string): T {
  if (typeof value !== 'object' || value === null || countWritten(json) === countRead(value)) return value;
  const key = keyGivenTwice(decode(json));
  return key === undefined ? value : ({ ...value, [`${key}${MARK}`]: true } as T);
}

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];

/** Counts the colons outside of texts: one for each field. Linear, since it reads every start and message. */
function countWritten(json: Uint8Array): number {
  let fields = 0;
  let isText = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) isText = !isText;
    else if (isText && byte === BACKSLASH) at += 1;
    else if (!isText && byte === COLON) fields += 1;
  }
  return fields;
}

function countRead(value: object): number {
  let fields = 0;
  const open: unknown[] = [value];
  for (const item of open) {
    if (typeof item !== 'object' || item === null) continue;
    const parts = Object.values(item);
    if (!Array.isArray(item)) fields += parts.length;
    for (const part of parts) open.push(part);
  }
  return fields;
}
