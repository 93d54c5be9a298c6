import type { BatchFile } from './batch.js';

/** Bytes of a part of an upload or report, before compression. Temporal refuses 2 MiB. */
export const PART_BYTES = 1024 * 1024;
export const MAX_FILE_MIB = 32;
export const MAX_ROWS = 100_000;
/** Maximum rows of one page: as many order ids go into one request to Temporal. */
export const MAX_ROW_PAGE = 500;

/** Format of a batch file. */
export type BatchFormat = 'csv' | 'ndjson';

/** Batch file to upload: `sha256` (hex) of all bytes, and the number of its parts. */
export interface BatchUpload {
  account: string;
  sha256: string;
  format: BatchFormat;
  parts: number;
}

/** Missing parts by number, counting from 1. If none is missing, `file` can start a batch. */
export interface UploadState {
  missing: number[];
  file?: BatchFile;
}

/** Row of a batch file. Absent: what the row does not name. */
export interface RowId {
  row: number;
  orderId?: string;
  reference?: string;
}

/**
 * Question to a worker that has BATCH_DIR and REPORT_DIR. The bytes of a part, compressed, are the
 * second argument; answers are an UploadState, RowIds, or a compressed piece of a report.
 */
export type BatchFilesInput =
  | ({ act: 'upload'; part?: number } & BatchUpload)
  | { act: 'rows'; account: string; file: BatchFile; after: number; limit: number }
  | { act: 'report'; account: string; path: string; from: number };
