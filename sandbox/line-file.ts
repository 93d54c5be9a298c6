import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** An append-only file of lines that a killed process leaves readable. */
export class LineFile {
  /** Lines of earlier runs, oldest first. */
  readonly earlier: readonly string[];
  readonly #file: number;

  /** Opens the file; it and its directory are made when missing. */
  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true });
    const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
    // A kill can leave half a line at the end: nobody was answered because of it, so it is cut off.
    const whole = bytes.lastIndexOf(0x0a) + 1;
    if (whole < bytes.length) truncateSync(path, whole);
    this.earlier = bytes.subarray(0, whole).toString().split('\n').filter(Boolean);
    this.#file = openSync(path, 'a');
  }

  /** Writes a line. It outlives a killed process. */
  append(line: string): void {
    writeSync(this.#file, `${line}\n`);
  }

  /** What was written so far also outlives a power cut. */
  sync(): void {
    fsyncSync(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }
}
