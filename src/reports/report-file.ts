import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReportFile } from '../contract/batch/batch.js';
import { NotWrittenError, systemCodeOf } from '../contract/failures.js';

/** Reports name people's payouts: nobody but the worker's own user reads them. */
const MODE = 0o600;
const BUFFER_CHARACTERS = 64 * 1024;
/** A temporary file that nobody wrote to for so long belongs to a worker that died. */
const ABANDONED_AFTER_MS = 24 * 3_600_000;

/** What is done in REPORT_DIR. Throws NotWrittenError in the place of what the system throws. */
export async function inReportDir<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw new NotWrittenError('the report', 'REPORT_DIR', systemCodeOf(error));
  }
}

/** A report while it is written: under a temporary name, so that a reader only ever sees a whole one. */
export class ReportWriter {
  readonly #hash = createHash('sha256');
  #buffer = '';
  #open = true;

  private constructor(
    private readonly reportDir: string,
    private readonly path: string,
    private readonly temporary: string,
    private readonly handle: FileHandle,
  ) {}

  /** Begins the report `name` in `reportDir`; every method throws NotWrittenError. */
  static open(reportDir: string, name: string): Promise<ReportWriter> {
    return inReportDir(async () => {
      await removeAbandoned(reportDir, name);
      const temporary = join(reportDir, `.${name}.${randomUUID()}.tmp`);
      return new ReportWriter(reportDir, name, temporary, await open(temporary, 'wx', MODE));
    });
  }

  async write(text: string): Promise<void> {
    this.#buffer += text;
    if (this.#buffer.length >= BUFFER_CHARACTERS) await inReportDir(() => this.#flush());
  }

  /** Puts the file in its place, over an older one of its name. */
  finish(): Promise<ReportFile> {
    return inReportDir(() => this.#finish());
  }

  async #finish(): Promise<ReportFile> {
    await this.#flush();
    await this.handle.sync();
    await this.handle.close();
    await rename(this.temporary, join(this.reportDir, this.path));
    this.#open = false;
    await syncFolder(this.reportDir);
    return { path: this.path, sha256: this.#hash.digest('hex') };
  }

  /** Drops what was written; does nothing after `finish`. */
  async discard(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    await this.handle.close().catch(() => undefined);
    await unlink(this.temporary).catch(() => undefined);
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.from(this.#buffer);
    this.#buffer = '';
    this.#hash.update(bytes);
    await this.handle.appendFile(bytes);
  }
}

/** Without this the new name may be lost with the power, though the file's bytes are not. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes what killed workers left of this report: it may name wallets in full. */
async function removeAbandoned(reportDir: string, name: string): Promise<void> {
  const left = (await readdir(reportDir)).filter((entry) => entry.startsWith(`.${name}.`) && entry.endsWith('.tmp'));
  for (const entry of left) {
    const file = join(reportDir, entry);
    const stats = await stat(file).catch(() => undefined);
    if (stats && Date.now() - stats.mtimeMs > ABANDONED_AFTER_MS) await unlink(file).catch(() => undefined);
  }
}
