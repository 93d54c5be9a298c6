import type { Client } from '@temporalio/client';
import type { BatchPlan } from '../contract/batch/batch.js';
import type { BatchInput } from '../contract/batch/input.js';
import { DEFAULT_ACCOUNT, defaultBatchId } from '../contract/ids.js';
import { validateBatchInput } from '../validation/batch-schema.js';
import { BatchHandle } from './batch-handle.js';
import { checkedForAccount } from './checked-input.js';
import { planBatch } from './plan-batch.js';
import { startBatch } from './start-batch.js';

/** What `plan` and `start` take; `batchId` omitted = the first 16 hex digits of the hash of its rows. */
export type BatchStart = Omit<BatchInput, 'planOnly'>;

const checked = (client: Client, input: unknown): Promise<BatchInput> =>
  checkedForAccount(client, (formatChecks) => validateBatchInput(input, formatChecks));

/** Withdrawals by the file. Every method may throw TemporalUnreachableError. */
export class Batches {
  readonly #client: Client;

  /** Made by PaymentOrders. */
  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Checks the whole file and says what it would do: rows, totals, fees, balances, warnings, digest. Starts no order.
   * Throws InvalidInputError,
   * BatchFailedError (bad rows by their lines, no such file) and NoWorkerError.
   */
  async plan(input: BatchStart): Promise<BatchPlan> {
    return planBatch(this.#client, await checked(this.#client, input));
  }

  /**
   * Starts a batch. A file without hash is planned first and started with the hash it had then, so that what was
   * changed meanwhile is refused. The same batch again, running or ended, is returned and sends nothing; with `again`
   * an ended one is run anew, and rows that have an order are not paid twice. Throws as `plan` does, and BatchConflictError.
   */
  async start(input: BatchStart): Promise<BatchHandle> {
    const given = await checked(this.#client, input);
    const { batchId, file } = given;
    if (batchId !== undefined && (file === undefined || file.sha256 !== undefined)) {
      return startBatch(this.#client, { ...given, batchId });
    }
    const { sha256 } = await planBatch(this.#client, given);
    return startBatch(this.#client, {
      ...given,
      batchId: batchId ?? defaultBatchId(sha256),
      ...(file && { file: { ...file, sha256 } }),
    });
  }

  /** The handle of a batch started before; asks nothing yet, so an unknown id shows at its first method. */
  handle(batchId: string, { account = DEFAULT_ACCOUNT }: { account?: string } = {}): BatchHandle {
    return new BatchHandle(this.#client, account, batchId);
  }
}
