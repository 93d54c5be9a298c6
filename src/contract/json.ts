import { parse } from 'lossless-json';

const MARK = ' (given twice)';

/** Returns the first key that a JSON object holds twice with different values. */
export function keyGivenTwice(json: string): string | undefined {
  let found: string | undefined;
  try {
    parse(json, null, {
      onDuplicateKey: ({ key }) => {
        found ??= key;
      },
    });
  } catch {
    // The reader of the value refuses invalid or too deeply nested JSON.
  }
  return found;
}

/** Returns the key that `markGivenTwice` put into a field's name; undefined for other fields. */
export const givenTwiceIn = (field: string): string | undefined =>
  field.endsWith(MARK) ? field.slice(0, -MARK.length) : undefined;

/**
 * Returns `value` with an additional unknown field if its JSON holds a key twice, because
 * JSON.parse silently keeps the last one. Input checks refuse unknown fields.
 */
export function markGivenTwice<T>(value: T, json: string): T {
  const key = typeof value === 'object' && value !== null ? keyGivenTwice(json) : undefined;
  return key === undefined ? value : ({ ...value, [`${key}${MARK}`]: true } as T);
}

/** Returns the JSON of a value with sorted keys and without absent fields: one text per value. */
export const sortedJson = (value: unknown): string =>
  JSON.stringify(value, (_key, child: unknown) =>
    typeof child === 'object' && child !== null && !Array.isArray(child)
      ? Object.fromEntries(Object.entries(child).sort(([a], [b]) => (a < b ? -1 : 1)))
      : child,
  );

/** Returns the value of a JSON text, or `otherwise` if it is no JSON. */
export function jsonOr(text: string, otherwise?: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}
