import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { DepositAddressInput, DepositAddressResult } from '../contract/address/address.js';
import type { BatchFilesInput } from '../contract/batch/files.js';
import { SERVICE_UNAVAILABLE } from '../contract/failures.js';
import {
  ACCOUNT_FORMAT,
  ADDRESS_REF_FORMAT,
  addressWorkflowId,
  BATCH_FILES_WORKFLOW,
  DEFAULT_ACCOUNT,
  DEPOSIT_ADDRESS_WORKFLOW,
  ORDERS_TASK_QUEUE,
  readWorkflowId,
  SERVICE_READ_WORKFLOW,
} from '../contract/names.js';
import type { OrderType } from '../contract/order/types.js';
import type { ServiceReadInput } from '../contract/service-objects.js';
import { holdsWallet, NO_WALLET } from '../contract/wallets.js';
import { pause, type WaitOptions } from './bounded.js';
import { FailedError, InvalidInputError, NoWorkerError } from './errors.js';
import { resultOfRun } from './history.js';
import { waitWithin } from './remote-run.js';
import { isAccountServed } from './served.js';
import { CHECK_WITHIN, requireTemporal, startUnlessTaken, throwNoWorker } from './temporal-calls.js';

/** A read gives up after 60 s. A longer silence means that no worker took it. */
const READ_TIMEOUT_MS = 75_000;
/** A worker that has just started is listed by then, and most reads are answered. */
const LISTED_AFTER_MS = 10_000;
/** An address needs up to three rounds of look-ups. The workflow continues after this time. */
const ADDRESS_TIMEOUT_MS = 180_000;

/** Filter of rates: an order type, or a pair such as `usd_card` or `usd_card-btc_bitcoin`. */
export interface RatesQuery {
  order_type?: OrderType;
  pair?: string;
}

function requireFormat(field: string, value: string, format: RegExp): void {
  if (!format.test(value)) throw new InvalidInputError([{ field, reason: `must match ${format.source}` }]);
  if (holdsWallet(value)) throw new InvalidInputError([{ field, reason: NO_WALLET }]);
}

/** Has a worker read from the service and returns the answer's `data`. */
export function readService<T>(
  client: Client,
  read: ServiceReadInput['read'],
  account = DEFAULT_ACCOUNT,
  query?: object,
  wait?: WaitOptions,
): Promise<T> {
  const input: ServiceReadInput = { account, read, ...(query === undefined ? {} : { query: { ...query } }) };
  return askWorker(client, SERVICE_READ_WORKFLOW, account, `read ${read}`, [input], wait);
}

/** Has a worker answer a question about batch files. `bytes`: a part of an upload, compressed. */
export const askAboutFiles = <T>(client: Client, input: BatchFilesInput, bytes?: Uint8Array): Promise<T> =>
  askWorker(client, BATCH_FILES_WORKFLOW, input.account, `files: ${input.act}`, bytes ? [input, bytes] : [input]);

/** Throws NoWorkerError after a while if no worker serves the account; otherwise never ends. */
export async function refuseUnserved(
  client: Client,
  account: string,
  { afterMs = LISTED_AFTER_MS, update }: { afterMs?: number; update?: string } = {},
): Promise<never> {
  await pause(afterMs);
  const served = await isAccountServed(client, account, CHECK_WITHIN).catch(() => undefined);
  if (served === false) throw new NoWorkerError(ORDERS_TASK_QUEUE, { update, unserved: account });
  return new Promise(() => undefined);
}

/** Runs a short workflow that asks a worker of the account. */
async function askWorker<T>(
  client: Client,
  workflow: string,
  account: string,
  staticSummary: string,
  args: [input: object, bytes?: Uint8Array],
  { timeoutMs = READ_TIMEOUT_MS, ...wait }: WaitOptions = {},
): Promise<T> {
  requireFormat('account', account, ACCOUNT_FORMAT);
  const execute = () =>
    client.workflow.execute<(input: object, bytes?: Uint8Array) => Promise<T>>(workflow, {
      workflowId: readWorkflowId(account, randomUUID()),
      taskQueue: ORDERS_TASK_QUEUE,
      args,
      staticSummary,
      // No caller waits longer. Without a worker, such reads would pile up.
      workflowExecutionTimeout: READ_TIMEOUT_MS,
    });
  const answer = () => Promise.race([execute(), refuseUnserved(client, account)]);
  return waitWithin(client, { subject: 'read', id: account, ...wait, timeoutMs }, answer, () => throwNoWorker(client));
}

function requireSameAddress({ address: wanted }: DepositAddressInput, { address: found }: DepositAddressResult): void {
  const same =
    wanted.currency === found.currency &&
    wanted.network === found.network &&
    (wanted.currency_to ?? null) === found.currency_to;
  if (!same) {
    const reason = `belongs to an address for ${found.currency} on ${found.network} already; choose another ref`;
    throw new InvalidInputError([{ field: 'ref', reason }]);
  }
}

type AddressWorkflow = (input: DepositAddressInput) => Promise<DepositAddressResult>;

/** Creates a deposit address, or returns the one with this `ref`. Throws InvalidInputError. */
export async function createDepositAddress(
  client: Client,
  request: DepositAddressInput,
  { timeoutMs = ADDRESS_TIMEOUT_MS, ...wait }: WaitOptions = {},
): Promise<DepositAddressResult> {
  const { account = DEFAULT_ACCOUNT, ref, address } = request;
  requireFormat('account', account, ACCOUNT_FORMAT);
  requireFormat('ref', ref, ADDRESS_REF_FORMAT);
  const workflowId = addressWorkflowId(account, ref);
  const create = async (): Promise<DepositAddressResult> => {
    await startUnlessTaken<AddressWorkflow>(client, DEPOSIT_ADDRESS_WORKFLOW, {
      workflowId,
      taskQueue: ORDERS_TASK_QUEUE,
      args: [{ account, ref, address }],
      // The reference is the idempotency key: a failed creation may be repeated, a completed one is
      // returned.
      workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
      staticSummary: `deposit address ${address.currency} ${address.network}`,
    });
    return resultOfRun<AddressWorkflow>(client, workflowId);
  };
  const about = { subject: 'address', id: ref, ...wait, timeoutMs } as const;
  const result = await waitWithin(client, about, create, async () => {
    await requireTemporal(client);
    throw new FailedError('address', ref, SERVICE_UNAVAILABLE, `no address yet; the creation of "${ref}" may continue`);
  });
  requireSameAddress(request, result);
  return result;
}
