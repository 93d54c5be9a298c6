import { badFile } from './errors.js';
import type { PinnedFile } from './pinned-file.js';

/** Longest line in bytes: several times what a payout to a hundred cards needs. */
const MAX_LINE_BYTES = 64 * 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** One line without its end, and where the next one begins. */
export interface Line {
  bytes: Buffer;
  nextOffset: number;
}

/** The lines of a file from a byte offset on; LF and CRLF end one. Holds one chunk at a time. */
export async function* readLines(file: PinnedFile, offset: number): AsyncGenerator<Line> {
  let rest: Buffer = Buffer.alloc(0);
  let restAt = offset;
  for (;;) {
    const chunk = await file.read(restAt + rest.length);
    if (chunk.length === 0) break;
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      const nextOffset = restAt + end + 1;
      yield { bytes: withoutCarriageReturn(bytes.subarray(start, end)), nextOffset };
      start = end + 1;
    }
    rest = bytes.subarray(start);
    restAt += start;
    if (rest.length > MAX_LINE_BYTES) throw badFile(`a line is longer than ${MAX_LINE_BYTES} bytes`);
  }
  if (rest.length > 0) yield { bytes: withoutCarriageReturn(rest), nextOffset: restAt + rest.length };
}

const withoutCarriageReturn = (bytes: Buffer): Buffer =>
  bytes.at(-1) === CARRIAGE_RETURN ? bytes.subarray(0, -1) : bytes;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of a line; undefined when it is not UTF-8. */
export function textOf(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
