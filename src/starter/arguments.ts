import { userInfo } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { SignOptions } from '../client/signing.js';
import type { PaymentOrders } from '../client.js';
import { durationMs } from '../config/formats.js';
import { loadApproverKey } from '../config.js';
import type { BatchInput } from '../contract/batch/batch.js';
import { FORMAT_CHECKS } from '../validation/field-errors.js';

/** Options of every verb. `account` is undefined if the user did not type it. */
export interface CommonOptions {
  account?: string;
  json?: boolean;
  showWallets?: boolean;
}

/** Returns an object without undefined fields. */
export const given = <T extends object>(fields: T): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;

/** Returns the milliseconds of a duration such as `30s`. */
export function parseTimeout(text: string): number {
  const timeoutMs = durationMs(text);
  if (timeoutMs === undefined) throw new InvalidArgumentError('It must be a duration above 0 such as 30s, 10m or 6h.');
  return timeoutMs;
}

/** Returns a parser of whole numbers from `min`. */
export const parseWhole = (min: number) => (text: string) => {
  const value = Number(text);
  if (!/^\d{1,9}$/.test(text) || value < min)
    throw new InvalidArgumentError(`It must be a whole number from ${min} on.`);
  return value;
};

/** Adds `--format-checks`. */
export const withFormatChecks = (command: Command): Command =>
  command.addOption(new Option('--format-checks <what>', 'as the account has it').choices([...FORMAT_CHECKS]));

/** Adds `--timeout`. */
export const withTimeout = (command: Command, what: string): Command =>
  command.option('--timeout <duration>', `${what}, such as 30s or 10m; then exit 4`, parseTimeout);

/** Options of a batch, for `batch start` and `schedule create`. */
export interface BatchOptions extends CommonOptions {
  by?: string;
  approval?: BatchInput['approval'];
  approvalExpires?: number;
  compensation?: BatchInput['compensation'];
  resend?: BatchInput['resend'];
  whenShort?: BatchInput['whenShort'];
  maxInFlight?: number;
  stopAfterFailures?: number;
}

/** Adds `--by` and the options of BatchOptions. */
export const withBatchOptions = (command: Command): Command =>
  command
    .option('--by <name>', 'who starts it; may not approve it (default: the name of your login)')
    .addOption(
      new Option('--approval <need>', 'required: somebody else approves the plan').choices(['required', 'none']),
    )
    .option('--approval-expires <duration>', 'how long it waits for the approval, such as 8h', parseTimeout)
    .addOption(new Option('--compensation <policy>', 'of every row').choices(['report', 'finish', 'revert', 'ask']))
    .addOption(new Option('--resend <policy>', 'of every row').choices(['once', 'never']))
    .addOption(
      new Option('--when-short <policy>', 'of every row that the balance does not cover').choices([
        ...['refuse', 'ask', 'wait', 'overtake'],
      ]),
    )
    .option('--max-in-flight <n>', 'orders open at the same time', parseWhole(1))
    .option('--stop-after-failures <n>', 'stops by itself after this many rows that did not complete', parseWhole(1));

/** Adds `--key`. */
export const withKey = (command: Command): Command =>
  command.option('--key <file>', 'signs with this private key (default: the file APPROVER_KEY_FILE names)');

/** Returns the signer, if the user named a key. Throws ConfigError. */
export function signerOf({ key }: { key?: string }): SignOptions {
  const signer = loadApproverKey(key);
  return signer ? { signer } : {};
}

/** Adds `--by` and `--reason`, both required. */
export const withReason = (command: Command): Command =>
  command.requiredOption('--by <name>', 'who says so').requiredOption('--reason <text>', 'why');

/** Returns the options of a batch in the form of its input. */
export function batchOptionsOf(options: BatchOptions): Omit<BatchInput, 'account' | 'batchId' | 'file' | 'rows'> {
  const {
    by,
    approval,
    approvalExpires,
    compensation,
    resend,
    whenShort,
    maxInFlight,
    stopAfterFailures: failures,
  } = options;
  return given({
    startedBy: by ?? loginName(),
    approval,
    approvalExpiresMs: approvalExpires,
    compensation,
    resend,
    whenShort,
    maxInFlight,
    stopAfter: failures === undefined ? undefined : { failures },
  });
}

/** A claim, like any other name. In a container, the user may have no name. */
function loginName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown user';
  }
}

/** Options of verbs about one order. */
export type OneOrderOptions = CommonOptions & { received?: true; afterEnd?: true };

/** Returns the handle of the order that a verb is about. */
export const handleOf = (orders: PaymentOrders, id: string, { account, received, afterEnd }: OneOrderOptions) =>
  received ? orders.received(id, { account, afterEnd }) : orders.order(id, { account, afterEnd });

/** Adds the argument and the options that identify one order. */
export const withOneOrder = (command: Command, argument = '<order_id>'): Command =>
  command
    .argument(argument, "the merchant's order id")
    .option('--received', 'the id is the order_uuid of a receipt on a permanent address')
    .option('--after-end', 'the look-ups after its end, which ask about a change at the service');
