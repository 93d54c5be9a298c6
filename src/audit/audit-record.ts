import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { NotWrittenError, systemCodeOf } from '../contract/failures.js';
import type { SignedUpdate } from '../contract/signature.js';

/** The entry may not be on the disk, so its action must not happen. */
export class AuditNotWrittenError extends NotWrittenError {
  override readonly name = 'AuditNotWrittenError';

  constructor(code: string) {
    super('the audit record', 'AUDIT_DIR', code);
  }
}

/** Line on the disk. */
export interface WrittenLine {
  text: string;
  hash: string;
}

/** Time limit, so that a hanging disk does not use up a create's time. */
const LIMIT_MS = 5_000;

/** Only the worker's user may read it: it shows who paid whom. */
const MODE = 0o600;

interface Waiting {
  entry: AuditEntry;
  settle: (error?: AuditNotWrittenError) => void;
  givenUp: boolean;
}

/** File of the record: one process appends lines, each with the hash of the previous line. */
interface AuditFile {
  id: string;
  path: string;
  day: string;
  /** Number of the next line. */
  seq: number;
  /** Hash of the last line. */
  last: string;
  /** Undefined after a failed write: the file gets no more lines. */
  size: number | undefined;
}

/**
 * Audit record of one worker process: a new file at every start, on every day and after every
 * failure, each naming the previous one.
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

  /**
   * Creates the first file. `onLine` gets every line after it is on the disk. Throws
   * AuditNotWrittenError.
   */
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

  /** Resolves when the entry is on the disk. Throws AuditNotWrittenError after 5 s. */
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
    // One file per day (UTC), so that days can be archived.
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

/** Creates a file. Its first line says which file it continues. */
async function create(folder: string, at: Date, before: AuditFile | undefined) {
  const id = randomUUID();
  const path = join(folder, `audit-${at.toISOString().replace(/[-:]|\.\d+/g, '')}-${id}.ndjson`);
  const file: AuditFile = { id, path, day: dayOf(at), seq: 0, last: NO_LINE, size: 0 };
  try {
    await withFile(path, 'ax', async () => undefined);
    const [first] = await append(file, at, [{ event: 'opened', ...(before && { continues: endOf(before) }) }]);
    // Without this, a power loss may remove the file's name.
    await withFile(folder, constants.O_RDONLY, (handle) => handle.sync());
    return { file, first: first as WrittenLine };
  } catch (error) {
    // A full disk would leave an empty file per try.
    await unlink(path).catch(() => undefined);
    throw error;
  }
}

/**
 * Appends lines and syncs them. Opens the file each time, which reveals a moved or changed file.
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

/** Events of the record: a create that is about to be sent, or a person's request. */
export type AuditEvent = 'send' | SignedUpdate | 'pause' | 'stop';

/** Entry before it has a place in a file. Its maker masks all texts. */
export interface AuditEntry {
  /** Equal in repeated attempts: entries with the same id are the same. */
  id: string;
  event: AuditEvent;
  account: string;
  workflowId: string;
  runId: string;
  [fact: string]: unknown;
}

/** Names the worker's previous file and the hash of its last good line. */
export interface Continues {
  file: string;
  hash: string;
}

/** Frame of every line. `prev`: hash of the previous line; `at`: ISO time. */
export interface LineFrame {
  v: 1;
  file: string;
  seq: number;
  at: string;
  prev: string;
}

/** `prev` of a file's first line. */
export const NO_LINE = '0'.repeat(64);

/** Returns the SHA-256 (hex) of a line without its line break. */
export const hashOf = (line: string | Uint8Array): string => createHash('sha256').update(line).digest('hex');

/** Returns the text of a line without line breaks. An entry cannot replace the frame's fields. */
export const lineOf = (frame: LineFrame, entry: object): string => JSON.stringify({ ...frame, ...entry, ...frame });
