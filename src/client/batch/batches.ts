import type { Client } from '@temporalio/client';
import type { BatchFile, BatchInput, BatchPlan } from '../../contract/batch/batch.js';
import type { BatchFormat, BatchUpload, UploadState } from '../../contract/batch/files.js';
import { DEFAULT_ACCOUNT, defaultBatchId } from '../../contract/names.js';
import { bounded, refuseUnknown, type WaitOptions } from '../bounded.js';
import { type CheckOptions, checkBatchInput } from '../checked-input.js';
import { InvalidInputError } from '../errors.js';
import { throwNoWorker } from '../temporal-calls.js';
import { upload, uploadPart, withUploadedRows } from './batch-files.js';
import { BatchHandle } from './batch-handle.js';
import { planBatch, startBatch } from './start-batch.js';

/** Input of `plan` and `start`. Default `batchId`: the first 16 hex digits of the rows' hash. */
export type BatchStart = Omit<BatchInput, 'planOnly'>;

/** Format of an upload, and its account. */
export interface UploadOptions {
  account?: string;
  format: BatchFormat;
}

const NO_PLAN_ONLY = {
  field: 'planOnly',
  reason: 'unknown field; to plan without a start, call `batches.plan` or POST /v1/batches:plan',
};

/** Bulk withdrawals. Every method may throw TemporalUnreachableError. */
export class Batches {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Checks all rows and returns their plan; more than 200 rows or 50,000 bytes are uploaded as a
   * file. Throws InvalidInputError, FailedError (bad rows by line, missing file) and NoWorkerError.
   */
  plan(input: BatchStart, { formatChecks, ...wait }: CheckOptions & WaitOptions = {}): Promise<BatchPlan> {
    return this.#within(wait, async () => planBatch(this.#client, await this.#accepted(input, { formatChecks })));
  }

  /**
   * Starts a batch of exactly these rows, or returns the existing one. With `again`, an ended batch
   * runs again; rows that have an order are not paid twice. After an abort or a time-out, start the
   * same batch again.
   */
  start(input: BatchStart, { formatChecks, ...wait }: CheckOptions & WaitOptions = {}): Promise<BatchHandle> {
    return this.#within(wait, async () => {
      const given = await this.#accepted(input, { formatChecks });
      const { batchId, file } = given;
      const fromRows = input.rows !== undefined;
      if (batchId !== undefined && (file === undefined || file.sha256 !== undefined)) {
        return startBatch(this.#client, { ...given, batchId }, fromRows);
      }
      const { sha256 } = await planBatch(this.#client, given);
      const named = {
        ...given,
        batchId: batchId ?? defaultBatchId(sha256),
        ...(file && { file: { ...file, sha256 } }),
      };
      return startBatch(this.#client, named, fromRows);
    });
  }

  /**
   * Uploads a CSV or NDJSON file (at most 32 MiB) to BATCH_DIR of the workers, and returns it for
   * `plan` and `start`. Throws InvalidInputError and NoWorkerError.
   */
  upload(
    bytes: Uint8Array,
    { account = DEFAULT_ACCOUNT, format, ...wait }: UploadOptions & WaitOptions,
  ): Promise<BatchFile> {
    return this.#within(wait, () => upload(this.#client, account, Buffer.from(bytes), format));
  }

  /**
   * Stores one part (at most 1 MiB, counting from 1) and returns the missing ones, or the file.
   * Throws InvalidInputError, also if all parts together have another hash.
   */
  uploadPart(about: BatchUpload, part: number, bytes: Uint8Array, wait: WaitOptions = {}): Promise<UploadState> {
    return this.#within(wait, () => uploadPart(this.#client, about, part, bytes));
  }

  #within<T>(wait: WaitOptions, call: () => Promise<T>): Promise<T> {
    return bounded(this.#client, wait, call, () => throwNoWorker(this.#client));
  }

  /** Returns the checked input, with its rows in a file if they are many. */
  async #accepted(input: BatchStart, options: CheckOptions): Promise<BatchInput> {
    const checked = checkBatchInput(input, options);
    if (checked.planOnly !== undefined) throw new InvalidInputError([NO_PLAN_ONLY]);
    return withUploadedRows(this.#client, checked, options);
  }

  /** Returns the handle of a batch. Sends no request: an unknown id shows at the first call. */
  handle(batchId: string, { account = DEFAULT_ACCOUNT, ...others }: { account?: string } = {}): BatchHandle {
    refuseUnknown(others);
    return new BatchHandle(this.#client, account, batchId);
  }
}
