import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { badFile, unusableFile, withPlainFile } from '../../batch-files/read-file.js';
import { readBatchSource } from '../../batch-files/source.js';
import { storePart } from '../../batch-files/upload.js';
import {
  type BatchFilesInput,
  MAX_FILE_MIB,
  MAX_ROW_PAGE,
  PART_BYTES,
  type RowId,
  type UploadState,
} from '../../contract/batch/files.js';
import { ACCOUNT_FORMAT } from '../../contract/names.js';
import { maskWallets } from '../../contract/wallets.js';
import { batchSchema } from '../../validation/input-schemas.js';
import type { ActivityDeps } from '../deps.js';
import { batchFailure, comeBackIn, invalidInput, validInput } from '../failures.js';
import { nextTurnMs } from '../spacing.js';

const account = z.string().regex(ACCOUNT_FORMAT);
const count = z.int().min(0);
/** Question about the files of a batch. */
export const batchFilesInput = z.discriminatedUnion('act', [
  z.strictObject({
    act: z.literal('upload'),
    account,
    sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits'),
    format: z.enum(['csv', 'ndjson']),
    parts: z.int().min(1).max(MAX_FILE_MIB),
    part: z.int().min(1).max(MAX_FILE_MIB).optional(),
  }),
  z.strictObject({
    act: z.literal('rows'),
    account,
    file: batchSchema.shape.file.unwrap(),
    after: count,
    limit: count.max(MAX_ROW_PAGE),
  }),
  z.strictObject({ act: z.literal('report'), account, path: z.string().max(300), from: count }),
]);

type Asked<A extends BatchFilesInput['act']> = Extract<z.infer<typeof batchFilesInput>, { act: A }>;

/** Files that callers have in memory at once, each with up to 30 MB. */
const MOST_AT_ONCE = 2;

/** Others ask again after this time, and no faster than that in one worker. */
const [BUSY_FOR_MS, BETWEEN_MS] = [1_000, 200];

/** Pause after a page of rows, in times of its reading, which keeps orders waiting. */
const REST = 4;

/** Stores uploads, and reads rows and reports, for callers that have no folder of the workers. */
export function batchFilesActivity({ directories = {} }: Pick<ActivityDeps, 'directories'>) {
  let atOnce = 0;
  const busy = { atMs: 0 };
  return async function batchFiles(raw: BatchFilesInput, bytes?: Uint8Array): Promise<unknown> {
    const input = validInput(batchFilesInput, raw);
    if (atOnce >= MOST_AT_ONCE) {
      const turnMs = nextTurnMs(busy, BUSY_FOR_MS, BETWEEN_MS, 10 * BUSY_FOR_MS);
      throw comeBackIn(turnMs, 'the worker is busy with other files');
    }
    atOnce += 1;
    const beganMs = performance.now();
    try {
      if (input.act === 'upload') return await upload(directories.batchDir, input, bytes);
      return input.act === 'rows' ? await rowsOf(directories, input) : await piece(directories.reportDir, input);
    } catch (error) {
      throw batchFailure(error, true);
    } finally {
      const restMs = input.act === 'rows' ? REST * (performance.now() - beganMs) : 0;
      const end = () => {
        atOnce -= 1;
      };
      setTimeout(end, restMs).unref();
    }
  };
}

const NO_BATCH_DIR = 'this worker has no BATCH_DIR to store them in. Set it on every worker, or send fewer rows';

async function upload(
  batchDir: string | undefined,
  { act: _, part, ...file }: Asked<'upload'>,
  sent?: Uint8Array,
): Promise<UploadState> {
  if (batchDir === undefined) throw badFile(NO_BATCH_DIR, 'rows');
  if (part === undefined) return storePart(batchDir, file);
  const bytes = unpacked(sent);
  if (part > file.parts || !bytes?.length) {
    throw invalidInput([{ field: 'part', reason: `must be one of ${file.parts} parts of 1 to ${PART_BYTES} bytes` }]);
  }
  return storePart(batchDir, file, { part, bytes });
}

/** Returns the bytes of a part; undefined if they are damaged or too many. */
function unpacked(sent: Uint8Array | undefined): Buffer | undefined {
  try {
    return sent && gunzipSync(sent, { maxOutputLength: PART_BYTES });
  } catch {
    return undefined;
  }
}

/** Returns the order ids of the next rows, and of one more if there is one. */
async function rowsOf(
  directories: ActivityDeps['directories'],
  { account: name, file, after, limit }: Asked<'rows'>,
): Promise<RowId[]> {
  const source = await readBatchSource(directories, { account: name, file, isShown: true });
  const found: RowId[] = [];
  for (const { row, order, reference } of source.rows(after)) {
    const { order_id: orderId } = Object(order) as { order_id?: unknown };
    // A row with a card number as its id is refused, and must not be shown.
    const shown = (name: string, text: unknown) => typeof text === 'string' && { [name]: maskWallets(text) };
    found.push({ row, ...shown('orderId', orderId), ...shown('reference', reference) });
    if (found.length > limit) break;
  }
  return found;
}

/** Returns the next piece of a report of this account's batches, compressed. */
async function piece(reportDir: string | undefined, { account: name, path, from }: Asked<'report'>): Promise<Buffer> {
  if (reportDir === undefined) throw unusableFile('this worker has no REPORT_DIR', 'file.path');
  if (!path.startsWith(`${name}.`) || path.includes('/')) throw badFile('is no report of this account', 'file.path');
  const { buffer, bytesRead } = await withPlainFile(
    reportDir,
    path,
    (handle) => handle.read(Buffer.alloc(PART_BYTES), 0, PART_BYTES, from),
    'REPORT_DIR',
  );
  return gzipSync(buffer.subarray(0, bytesRead));
}
