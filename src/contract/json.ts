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

/** Returns the key that `markGivenTwice` put into a field's name; undefined for other fields. */
export const givenTwiceIn = (field: string): string | undefined =>
  field.endsWith(MARK) ? field.slice(0, -MARK.length) : undefined;

/**
 * Returns what `JSON.parse` made of a text, with an unknown field added if the text gives a key twice: JSON.parse keeps the last
 * value. Every check of an input refuses unknown fields, and a replay schedules the same activities as before.
 */
export function markGivenTwice<T>(value: T, json: string): T {
  const key = typeof value === 'object' && value !== null ? keyGivenTwice(json) : undefined;
  return key === undefined ? value : ({ ...value, [`${key}${MARK}`]: true } as T);
}

/** The value of a JSON text; `otherwise` for a text that is none. */
export function jsonOr(text: string, otherwise?: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}
