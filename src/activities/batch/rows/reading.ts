import { createHash, hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RowContent } from '../../../batch-files/csv-rows.js';
import { unusableFile } from '../../../batch-files/read-file.js';
import type { BatchSource } from '../../../batch-files/source.js';
import type { PlannedRows } from '../../../contract/batch/activities.js';
import { sortedJson } from '../../../contract/json.js';

/** Rows between two turns of the worker's other tasks. */
const ROWS_A_TURN = 100;

/** Returns the hex SHA-256 of a value's JSON with sorted keys and without absent fields. */
export const digestOf = (value: unknown): string => hash('sha256', sortedJson(value));

/** Hex SHA-256 of the orders of a batch's rows with their references, in their order. */
export class OrdersHash {
  readonly #hash = createHash('sha256');

  add({ order = null, reference }: RowContent): void {
    this.#hash.update(digestOf(reference === undefined ? order : [order, reference]));
  }

  get hex(): string {
    return this.#hash.copy().digest('hex');
  }
}

/** Hashes of bytes, with those of the orders that this worker reads in them. */
const confirmed = new Set<string>();

/** Throws BatchFileError if the planning worker read other orders in these bytes. */
export async function confirmReading(source: BatchSource, { orders }: PlannedRows): Promise<void> {
  const reading = `${source.sha256} ${orders}`;
  if (confirmed.has(reading)) return;
  const read = new OrdersHash();
  for (const row of source.rows()) {
    read.add(row);
    if (row.row % ROWS_A_TURN === 0) await nextTurn();
  }
  if (read.hex !== orders) {
    throw unusableFile(
      'this worker reads its rows otherwise than the one that planned them: run the version that did, or stop it and start it again',
    );
  }
  confirmed.add(reading);
}
