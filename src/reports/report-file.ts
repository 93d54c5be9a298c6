import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReportFile } from '../contract/batch/batch.js';
import { NotWrittenError, systemCodeOf } from '../contract/failures.js';

/** Only the worker's user may read reports: they name payees. */
const MODE = 0o600;
const BUFFER_CHARACTERS = 64 * 1024;
/** Age from which a temporary file belongs to a dead worker. */
const ABANDONED_AFTER_MS = 24 * 3_600_000;

/** Runs file operations in REPORT_DIR. Throws NotWrittenError for system errors. */
export async function inReportDir<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw new NotWrittenError('the report', 'REPORT_DIR', systemCodeOf(error));
  }
}

/** Writes a report under a temporary name, so that readers only see complete ones. */
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

  /** Opens the report `name` in `reportDir`. Every method throws NotWrittenError. */
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

  /** Renames the file to its name, over an older one. */
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

  /** Removes the temporary file. Does nothing after `finish`. */
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

/** Without this, a power loss may undo the rename. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes what killed workers left of this report, because it may show wallets. */
async function removeAbandoned(reportDir: string, name: string): Promise<void> {
  const left = (await readdir(reportDir)).filter((entry) => entry.startsWith(`.${name}.`) && entry.endsWith('.tmp'));
  for (const entry of left) {
    const file = join(reportDir, entry);
    const stats = await stat(file).catch(() => undefined);
    if (stats && Date.now() - stats.mtimeMs > ABANDONED_AFTER_MS) await unlink(file).catch(() => undefined);
  }
}
