import { NotWrittenError, systemCodeOf } from '../contract/not-written.js';
import { AuditFile, type WrittenLine } from './audit-file.js';
import type { AuditEntry } from './line.js';

/** The entry is not known to be on the disk: what it tells of must not be done. */
export class AuditNotWrittenError extends NotWrittenError {
  override readonly name = 'AuditNotWrittenError';

  constructor(code: string) {
    super('the audit record', 'AUDIT_DIR', code);
  }
}

/** A disk that hangs must not use up the time in which a create may be sent. */
const LIMIT_MS = 5_000;

interface Waiting {
  entry: AuditEntry;
  settle: (error?: AuditNotWrittenError) => void;
  givenUp: boolean;
}

/**
 * The audit record of one worker process: files of its own in a folder that many may share, a new one at every start, every day
 * and after every failure, each naming the one before it. Entries that come while others are written go to the disk together.
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

  /** One try on the file there is, one on a new one: a moved file or a torn line must not stop payments. */
  async #write(entries: readonly AuditEntry[]): Promise<void> {
    const at = new Date();
    if (this.#file?.isOf(at) && (await this.#appended(this.#file, at, entries))) return;
    const { file, first } = await AuditFile.create(this.folder, at, this.#file?.end);
    this.#file = file;
    for (const line of first) this.onLine(line);
    for (const line of await file.append(at, entries)) this.onLine(line);
  }

  async #appended(file: AuditFile, at: Date, entries: readonly AuditEntry[]): Promise<boolean> {
    try {
      for (const line of await file.append(at, entries)) this.onLine(line);
      return true;
    } catch {
      return false;
    }
  }
}
