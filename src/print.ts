import type { Writable } from 'node:stream';

/** Characters that a terminal obeys or does not show. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const hex = (code: number): string => code.toString(16).padStart(4, '0');

/** Returns a text with unseen characters by name, such as `<U+202E>`; line breaks and tabs stay. */
export const printable = (text: string): string =>
  text.replace(UNSEEN, (found) =>
    /[\n\t]/.test(found) ? found : `<U+${hex(found.codePointAt(0) ?? 0).toUpperCase()}>`,
  );

/** Returns `printable` text in one line: a text of the service cannot forge a line of ours. */
export const printableLine = (text: string): string => printable(text.replace(/[\n\r\t\v\f]+/g, ' '));

/** Returns JSON that parses to the same value, with every unseen character escaped. */
export const printableJson = (json: string): string =>
  json.replace(UNSEEN, (found) =>
    found === '\n'
      ? found
      : Array.from({ length: found.length }, (_, at) => `\\u${hex(found.charCodeAt(at))}`).join(''),
  );

/** Option `hooks` of every logger: a log line is read on terminals, too. */
export const LOG_HOOKS = { streamWrite: printableJson };

/** Writes text to a terminal. A structure test refuses every other writer. */
export const print = (stream: Writable, text: string, done?: () => void): void =>
  void stream.write(printable(text), done);

/** Writes one value as a line of JSON. */
export const printJson = (stream: Writable, value: unknown): void =>
  void stream.write(`${printableJson(JSON.stringify(value))}\n`);
