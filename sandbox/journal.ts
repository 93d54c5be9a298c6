import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { DepositAddress } from './addresses.js';
import type { StoredOrder } from './orders.js';
import type { QueuedCreate } from './store.js';

/** One line of the journal. Later lines about the same thing replace earlier ones. */
export type JournalRecord =
  | { kind: 'order'; order: StoredOrder }
  | { kind: 'create'; orderId: string; description: string | null; atMs: number }
  | { kind: 'queued'; create: QueuedCreate }
  | { kind: 'unqueued'; id: string }
  | { kind: 'address'; address: DepositAddress }
  | { kind: 'balances'; balances: Record<string, string>; atMs: number }
  | { kind: 'callback'; orderUuid: string; attempts: number; acked: boolean; done: boolean };

/** An append-only file of JSON lines. */
export class Journal {
  readonly #file: number;

  private constructor(
    path: string,
    /** What earlier runs wrote, oldest first. */
    readonly earlier: readonly JournalRecord[],
  ) {
    this.#file = openSync(path, 'a');
  }

  /** Opens the journal of a directory, which is made when missing. Throws on a broken line other than the last. */
  static open(dataDir: string): Journal {
    mkdirSync(dataDir, { recursive: true });
    const path = join(dataDir, 'journal.ndjson');
    const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
    // A kill can leave half a line at the end: nobody was answered because of it, so it is cut off.
    const whole = bytes.lastIndexOf(0x0a) + 1;
    if (whole < bytes.length) truncateSync(path, whole);
    const lines = bytes.subarray(0, whole).toString().split('\n').filter(Boolean);
    return new Journal(
      path,
      lines.map((line): JournalRecord => JSON.parse(line)),
    );
  }

  /** Writes a record. It outlives a killed process; what a client was promised also outlives a power cut. */
  append(record: JournalRecord): void {
    writeSync(this.#file, `${JSON.stringify(record)}\n`);
    if (record.kind === 'order' || record.kind === 'queued' || record.kind === 'address') fsyncSync(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }
}
