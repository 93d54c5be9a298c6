import type { Writable } from 'node:stream';

/** Characters that a terminal obeys or does not show. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const hex = (code: number): string => code.toString(16).padStart(4, '0');

/**
 * Returns a text with invisible characters by name, such as `<U+202E>`. Keeps line breaks and tabs.
 */
export const printable = (text: string): string =>
  text.replace(UNSEEN, (found) =>
    /[\n\t]/.test(found) ? found : `<U+${hex(found.codePointAt(0) ?? 0).toUpperCase()}>`,
  );

/** Returns `printable` text in one line, so that the service's text cannot forge our lines. */
export const printableLine = (text: string): string => printable(text.replace(/[\n\r\t\v\f]+/g, ' '));

/** Returns JSON with the same value and all invisible characters escaped. */
export const printableJson = (json: string): string =>
  json.replace(UNSEEN, (found) =>
    found === '\n'
      ? found
      : Array.from({ length: found.length }, (_, at) => `\\u${hex(found.charCodeAt(at))}`).join(''),
  );

/** Option `hooks` of every logger, because people read log lines on terminals. */
export const LOG_HOOKS = { streamWrite: printableJson };

/** Writes text to a terminal. A structure test refuses every other writer. */
export const print = (stream: Writable, text: string, done?: () => void): void =>
  void stream.write(printable(text), done);

/** Writes one value as a line of JSON. */
export const printJson = (stream: Writable, value: unknown): void =>
  void stream.write(`${printableJson(JSON.stringify(value))}\n`);
