import type { Writable } from 'node:stream';
import { type Command, CommanderError } from 'commander';
import { FailedError, InvalidInputError, isClientError } from '../client/errors.js';
import type { PaymentOrders } from '../client.js';
import { BATCH_FILE_UNUSABLE, type BatchResult } from '../contract/batch/batch.js';
import { INVALID_INPUT, messageOf, SERVICE_REJECTED } from '../contract/failures.js';
import type { OrderResult } from '../contract/order/input-and-result.js';
import { maskWallets } from '../contract/wallets.js';

/** Exit codes of the starter. 4: not decided yet; never start it under another id. */
export const EXIT = { done: 0, endedWithoutSuccess: 1, badUsage: 2, unreachable: 3, undecided: 4 } as const;

/** One of the five exit codes. */
type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/**
 * Wrong usage that no option parser finds, such as an unreadable file. The message shows no value.
 */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Returns the report for a missing revision: nothing is decided, and it shows the choices. */
export const notDecided = ({ json, text }: Report, message: string): Report => ({
  exitCode: EXIT.badUsage,
  json: { ...json, error: { type: UsageError.name, message } },
  text: `${text}\nerror: ${message}`,
});

/** Returns 0 for a completed order, or a partial one with completed compensation; otherwise 1. */
export function exitCodeOfResult({ outcome, compensation }: OrderResult): ExitCode {
  const madeUp = outcome === 'completed_partially' && compensation?.status === 'done';
  return outcome === 'completed' || madeUp ? EXIT.done : EXIT.endedWithoutSuccess;
}

/**
 * Returns 4 while rows are parked, because they may still be paid; 0 if all completed; otherwise 1.
 */
export function exitCodeOfBatch({ rows, outcomes }: BatchResult): ExitCode {
  if (outcomes.parked > 0) return EXIT.undecided;
  return outcomes.completed === rows ? EXIT.done : EXIT.endedWithoutSuccess;
}

/** Failures that a corrected input or file resolves. */
const BAD_INPUT: readonly string[] = ['InvalidOrder', INVALID_INPUT, BATCH_FILE_UNUSABLE, SERVICE_REJECTED];

/**
 * Returns the exit code of an error. An unknown error says nothing about the order, so it counts as
 * undecided.
 */
export function exitCodeOfError(error: unknown): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.badUsage;
  if (error instanceof UsageError) return EXIT.badUsage;
  if (!isClientError(error)) return EXIT.undecided;
  switch (error.kind) {
    case 'config':
    case 'setup':
    case 'invalidInput':
    case 'conflict':
    case 'unknown':
      return EXIT.badUsage;
    case 'unreachable':
      return EXIT.unreachable;
    case 'failed':
      return BAD_INPUT.includes(error.type) ? EXIT.badUsage : EXIT.endedWithoutSuccess;
    case 'refused':
      return error.undecided ? EXIT.undecided : EXIT.badUsage;
    case 'notDecidedYet':
    case 'unresolved':
    case 'noWorker':
    case 'decryption':
      return EXIT.undecided;
  }
}

/** Output of a verb: `json` is the object for --json, `text` is for people ('' prints nothing). */
export interface Report {
  exitCode: ExitCode;
  json: object;
  text: string;
}

/** Connects to Temporal at its first call. A verb checks its input before. */
export type Connect = () => Promise<PaymentOrders>;

/** Action of a verb with its arguments and options. */
export type Act = (connect: Connect, ...typed: never[]) => Promise<Report>;

/** Registers verbs. */
export interface Verbs {
  /** Adds --account and --json. */
  add(command: Command, act: Act): void;
  /** Adds --json only, for a verb without an account. */
  addLocal(command: Command, act: Act): void;
}

/** All external resources of the starter. */
export interface StarterIo {
  stdin: NodeJS.ReadableStream;
  /** `columns`: width of a terminal; otherwise undefined. */
  stdout: Writable & { columns?: number };
  /** Progress and errors, for people. */
  stderr: Writable & { isTTY?: boolean };
  connect: Connect;
  /** Command as the user types it, for suggested command lines. */
  self: string;
}

/**
 * Removes the value from Commander's message about an unknown `--option=value`: it may be a secret.
 */
export const withoutValue = (message: string): string => message.replace(/('--?[^'=]+)=[\s\S]*'/, "$1'");

const shownMessage = (error: unknown): string => maskWallets(withoutValue(messageOf(error))).replace(/^error: /, '');

/** Returns the report of an error. */
export function reportOfError(error: unknown): Report {
  const message = shownMessage(error);
  const failed = error instanceof FailedError;
  const named = failed ? error.type : error instanceof Error ? error.name : 'Error';
  const fields = failed || error instanceof InvalidInputError ? error.fields : [];
  return {
    exitCode: exitCodeOfError(error),
    json: {
      error: {
        type: error instanceof CommanderError ? 'UsageError' : named,
        ...(isClientError(error) && 'subject' in error && { subject: error.subject }),
        message,
        ...(fields.length > 0 && { fields }),
      },
    },
    text: `error: ${message}`,
  };
}
