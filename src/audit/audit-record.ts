import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { NotWrittenError, systemCodeOf } from '../contract/failures.js';

/** The entry is not known to be on the disk: what it tells of must not be done. */
export class AuditNotWrittenError extends NotWrittenError {
  override readonly name = 'AuditNotWrittenError';

  constructor(code: string) {
    super('the audit record', 'AUDIT_DIR', code);
  }
}

/** A line as it stands on the disk. */
export interface WrittenLine {
  text: string;
  hash: string;
}

/** A disk that hangs must not use up the time in which a create may be sent. */
const LIMIT_MS = 5_000;

/** Who paid whom is for the worker's own user alone. */
const MODE = 0o600;

interface Waiting {
  entry: AuditEntry;
  settle: (error?: AuditNotWrittenError) => void;
  givenUp: boolean;
}

/** A file of the record: only ever appended to, by one process, each line with the hash of the line before. */
interface AuditFile {
  id: string;
  path: string;
  day: string;
  /** Number of its next line. */
  seq: number;
  /** Hash of its last line. */
  last: string;
  /** Undefined once a write failed: nothing more is written into it. */
  size: number | undefined;
}

/**
 * The audit record of one worker process, in files of its own: a new one at every start, on every
 * day and after every failure, each naming the one before it.
 */
export class AuditRecord {
  #file?: AuditFile;
  #waiting: Waiting[] = [];
  #writing = false;

  private constructor(
    private readonly folder: string,
    private readonly onLine: (line: WrittenLine) => void,
    private readonly limitMs: number,
  ) {}

  /** Makes the first file. `onLine` gets every line once it is on the disk. Throws AuditNotWrittenError. */
  static async open(
    folder: string,
    onLine: (line: WrittenLine) => void,
    { limitMs = LIMIT_MS }: { limitMs?: number } = {},
  ): Promise<AuditRecord> {
    const record = new AuditRecord(folder, onLine, limitMs);
    try {
      await record.#write([]);
    } catch (error) {
      throw new AuditNotWrittenError(systemCodeOf(error));
    }
    return record;
  }

  /** Returns once the entry is on the disk; throws AuditNotWrittenError when that is not known within 5 s. */
  append(entry: AuditEntry): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.givenUp = true;
        reject(new AuditNotWrittenError('ETIMEDOUT'));
      }, this.limitMs);
      const settle = (error?: AuditNotWrittenError) => {
        clearTimeout(timer);
        if (error) reject(error);
        else resolve();
      };
      const waiting: Waiting = { entry, settle, givenUp: false };
      this.#waiting.push(waiting);
      if (!this.#writing) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0).filter(({ givenUp }) => !givenUp);
      const error = await this.#write(group.map(({ entry }) => entry)).then(
        () => undefined,
        (cause: unknown) => new AuditNotWrittenError(systemCodeOf(cause)),
      );
      for (const { settle } of group) settle(error);
    }
    this.#writing = false;
  }

  /** Tries the present file, then a new one: a moved file or a torn line must not stop payments. */
  async #write(entries: readonly AuditEntry[]): Promise<void> {
    const at = new Date();
    // A file for each day, in UTC, can be archived.
    let lines = this.#file?.day === dayOf(at) && (await append(this.#file, at, entries).catch(() => undefined));
    if (!lines) {
      const { file, first } = await create(this.folder, at, this.#file);
      this.#file = file;
      this.onLine(first);
      lines = await append(file, at, entries);
    }
    for (const line of lines) this.onLine(line);
  }
}

/** Makes a file whose first line says what it is and which file it continues. Throws what the system throws. */
async function create(folder: string, at: Date, before: AuditFile | undefined) {
  const id = randomUUID();
  const path = join(folder, `audit-${at.toISOString().replace(/[-:]|\.\d+/g, '')}-${id}.ndjson`);
  const file: AuditFile = { id, path, day: dayOf(at), seq: 0, last: NO_LINE, size: 0 };
  try {
    await withFile(path, 'ax', async () => undefined);
    const [first] = await append(file, at, [{ event: 'opened', ...(before && { continues: endOf(before) }) }]);
    // Without this a new file's name may be lost with the power, though its bytes are not.
    await withFile(folder, constants.O_RDONLY, (handle) => handle.sync());
    return { file, first: first as WrittenLine };
  } catch (error) {
    // A full disk would leave an empty one for every try.
    await unlink(path).catch(() => undefined);
    throw error;
  }
}

/**
 * Returns the lines once they are on the disk. It opens the file for every append, so that a file
 * that was moved, cut or added to is noticed. Throws what the system throws.
 */
async function append(file: AuditFile, at: Date, entries: readonly object[]): Promise<WrittenLine[]> {
  const lines = chained(file, at, entries);
  const bytes = Buffer.from(lines.map(({ text }) => `${text}\n`).join(''));
  const { size } = file;
  file.size = undefined;
  await withFile(file.path, constants.O_WRONLY | constants.O_APPEND, async (handle) => {
    if ((await handle.stat()).size !== size) throw Object.assign(new Error(), { code: 'CHANGED_FROM_OUTSIDE' });
    await handle.appendFile(bytes);
    await handle.datasync();
  });
  file.size = (size ?? 0) + bytes.length;
  file.seq += lines.length;
  file.last = lines.at(-1)?.hash ?? file.last;
  return lines;
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

const endOf = ({ id, last }: AuditFile): Continues => ({ file: id, hash: last });

function chained({ id, seq, last }: AuditFile, at: Date, entries: readonly object[]): WrittenLine[] {
  let prev = last;
  return entries.map((entry, index) => {
    const text = lineOf({ v: 1, file: id, seq: seq + index, at: at.toISOString(), prev }, entry);
    prev = hashOf(text);
    return { text, hash: prev };
  });
}

async function withFile(path: string, flags: string | number, use: (handle: FileHandle) => Promise<void>) {
  const handle = await open(path, flags, MODE);
  try {
    await use(handle);
  } finally {
    await handle.close();
  }
}

/** What an audit record tells of: a create that is about to be written to the service, or what a person asked for. */
export type AuditEvent = 'send' | 'decide' | 'approve' | 'resume' | 'pause' | 'stop';

/** One entry, before it has a place in a file. Every text in it is masked by who makes it. */
export interface AuditEntry {
  /** Stays the same when the server repeats what wrote it: entries with one id are one and the same. */
  id: string;
  event: AuditEvent;
  account: string;
  workflowId: string;
  runId: string;
  [fact: string]: unknown;
}

/** Names the file that the same worker wrote before this one, and the hash of its last good line. */
export interface Continues {
  file: string;
  hash: string;
}

/** What every line has besides its entry. `prev`: hash of the line before; `at`: ISO time. */
export interface LineFrame {
  v: 1;
  file: string;
  seq: number;
  at: string;
  prev: string;
}

/** `prev` of the first line of a file. */
export const NO_LINE = '0'.repeat(64);

/** SHA-256 in hex over the bytes of a line, without its line break. */
export const hashOf = (line: string | Uint8Array): string => createHash('sha256').update(line).digest('hex');

/** The text of a line, which has no line break in it. No field of an entry takes the place of the frame's. */
export const lineOf = (frame: LineFrame, entry: object): string => JSON.stringify({ ...frame, ...entry, ...frame });
