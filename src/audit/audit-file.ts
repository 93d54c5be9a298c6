import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type Continues, hashOf, lineOf, NO_LINE } from './line.js';

/** Who paid whom is for the worker's own user alone. */
const MODE = 0o600;

/** A line as it stands on the disk. */
export interface WrittenLine {
  text: string;
  hash: string;
}

/**
 * One file of an audit record: only ever appended to, by one writer, each line with the hash of the line before. It is opened
 * anew for every append, so that a file that was moved away, cut or added to is noticed before anything relies on a line in it.
 */
export class AuditFile {
  readonly #id = randomUUID();
  readonly #path: string;
  readonly #day: string;
  #seq = 0;
  #last = NO_LINE;
  #size = 0;
  #unsure: string[] = [];

  private constructor(folder: string, at: Date) {
    this.#day = dayOf(at);
    this.#path = join(folder, `audit-${at.toISOString().replace(/[-:]|\.\d+/g, '')}-${this.#id}.ndjson`);
  }

  /** Makes a new file in `folder`, whose first line says what it is. Throws what the system throws. */
  static async create(
    folder: string,
    at: Date,
    continues?: Continues,
  ): Promise<{ file: AuditFile; first: WrittenLine[] }> {
    const file = new AuditFile(folder, at);
    try {
      const handle = await open(file.#path, 'ax', MODE);
      await handle.close();
      const first = await file.append(at, [{ event: 'opened', ...(continues && { continues }) }]);
      await syncFolder(folder);
      return { file, first };
    } catch (error) {
      // A full disk would leave an empty one for every try.
      await unlink(file.#path).catch(() => undefined);
      throw error;
    }
  }

  /** True on the day it was made, in UTC: a file for each day can be archived. */
  isOf(at: Date): boolean {
    return dayOf(at) === this.#day;
  }

  /** What the next file names as the one before it. */
  get end(): Continues {
    const unsure = this.#unsure;
    return { file: this.#id, hash: this.#last, ...(unsure.length > 0 && { unsure }) };
  }

  /** Returns once the lines are on the disk. Throws what the system throws, and then takes nothing more. */
  async append(at: Date, entries: readonly object[]): Promise<WrittenLine[]> {
    const lines = this.#chained(at, entries);
    const bytes = Buffer.from(lines.map(({ text }) => `${text}\n`).join(''));
    const size = this.#size;
    this.#size = Number.NaN;
    if (!Number.isNaN(size)) this.#unsure = lines.map(({ hash }) => hash);
    const handle = await open(this.#path, constants.O_WRONLY | constants.O_APPEND);
    try {
      if ((await handle.stat()).size !== size) throw Object.assign(new Error(), { code: 'CHANGED_FROM_OUTSIDE' });
      await handle.appendFile(bytes);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    this.#size = size + bytes.length;
    this.#unsure = [];
    this.#seq += lines.length;
    this.#last = lines.at(-1)?.hash ?? this.#last;
    return lines;
  }

  #chained(at: Date, entries: readonly object[]): WrittenLine[] {
    let prev = this.#last;
    return entries.map((entry, index) => {
      const frame = { v: 1, file: this.#id, seq: this.#seq + index, at: at.toISOString(), prev } as const;
      const text = lineOf(frame, entry);
      prev = hashOf(text);
      return { text, hash: prev };
    });
  }
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** Without this a new file's name may be lost with the power, though its bytes are not. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
