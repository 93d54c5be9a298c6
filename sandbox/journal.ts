import { join } from 'node:path';
import { LineFile } from './line-file.js';
import type { DepositAddress, QueuedCreate, StoredOrder } from './stored.js';

/** One line of the journal. Later lines about the same thing replace earlier ones. */
export type JournalRecord =
  | { kind: 'order'; order: StoredOrder }
  | { kind: 'removed'; orderUuid: string }
  | { kind: 'create'; key: string; description: string | null }
  | { kind: 'queued'; create: QueuedCreate }
  | { kind: 'unqueued'; id: string }
  | { kind: 'address'; address: DepositAddress }
  | { kind: 'balances'; balances: Record<string, string>; atMs: number }
  | { kind: 'callback'; orderUuid: string; attempts: number; acked: boolean; done: boolean };

/** Everything that must outlive the process, as JSON lines. */
export class Journal {
  /** What earlier runs wrote, oldest first. */
  readonly earlier: readonly JournalRecord[];
  readonly #file: LineFile;

  /** Opens the journal of a directory. Throws on a broken line other than the last. */
  constructor(dataDir: string) {
    this.#file = new LineFile(join(dataDir, 'journal.ndjson'));
    this.earlier = this.#file.earlier.map((line): JournalRecord => JSON.parse(line));
  }

  /** Writes a record. It outlives a killed process; what a client was promised also outlives a power cut. */
  append(record: JournalRecord): void {
    this.#file.append(JSON.stringify(record));
    if (record.kind === 'order' || record.kind === 'queued' || record.kind === 'address') this.#file.sync();
  }

  close(): void {
    this.#file.close();
  }
}
