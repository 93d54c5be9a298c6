import type { Writable } from 'node:stream';
import { type Command, CommanderError } from 'commander';
import { FailedError, InvalidInputError, isClientError } from '../client/errors.js';
import type { PaymentOrders } from '../client.js';
import { BATCH_FILE_UNUSABLE, type BatchResult } from '../contract/batch/batch.js';
import { INVALID_INPUT, messageOf, SERVICE_REJECTED } from '../contract/failures.js';
import type { OrderResult } from '../contract/order/input-and-result.js';
import { maskWallets } from '../contract/wallets.js';

/** What the starter exits with. 4: not decided yet, never start it under another id. */
export const EXIT = { done: 0, endedWithoutSuccess: 1, badUsage: 2, unreachable: 3, undecided: 4 } as const;

/** One of the five exit codes. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Bad usage that no option parser sees, such as an unreadable input file. The message shows no value. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Where it was not said on what to decide, nothing is decided: this shows what there is. */
export const notDecided = ({ json, text }: Report, message: string): Report => ({
  exitCode: EXIT.badUsage,
  json: { ...json, error: { type: UsageError.name, message } },
  text: `${text}\nerror: ${message}`,
});

/** 0 for a completed order and for a partial one whose compensation is done; 1 for every other end. */
export function exitCodeOfResult({ outcome, compensation }: OrderResult): ExitCode {
  const madeUp = outcome === 'completed_partially' && compensation?.status === 'done';
  return outcome === 'completed' || madeUp ? EXIT.done : EXIT.endedWithoutSuccess;
}

/** 4 while rows are parked: they may still be paid. 0 when every row completed, 1 for every other end. */
export function exitCodeOfBatch({ rows, outcomes }: BatchResult): ExitCode {
  if (outcomes.parked > 0) return EXIT.undecided;
  return outcomes.completed === rows ? EXIT.done : EXIT.endedWithoutSuccess;
}

/** Failures that a corrected input or file mends. */
const BAD_INPUT: readonly string[] = ['InvalidOrder', INVALID_INPUT, BATCH_FILE_UNUSABLE, SERVICE_REJECTED];

/** The exit code of an error. What nobody foresaw says nothing about the order, so it counts as undecided. */
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

/** What a verb has to say: `json` is the one object printed with --json, `text` is for people. */
export interface Report {
  exitCode: ExitCode;
  json: object;
  text: string;
}

/** Connects to Temporal at its first call, for the time of one command. What a verb can check, it checks before. */
export type Connect = () => Promise<PaymentOrders>;

/** What a verb does with its arguments and options. */
export type Act = (connect: Connect, ...typed: never[]) => Promise<Report>;

/** Ends the description of a verb. */
export interface Verbs {
  /** Adds --account and --json. */
  add(command: Command, act: Act): void;
  /** Adds --json alone, to a verb that is about no account. */
  addLocal(command: Command, act: Act): void;
}

/** Everything of the world the starter touches. */
export interface StarterIo {
  stdin: NodeJS.ReadableStream;
  /** `columns`: the width of a terminal; undefined where it is none. */
  stdout: Writable & { columns?: number };
  /** Progress and errors for people. */
  stderr: Writable & { isTTY?: boolean };
  connect: Connect;
  /** How this command is typed, for the command lines it suggests. */
  self: string;
}

/** Commander repeats an unknown `--option=value` in full: the value may be a secret that somebody tried to pass. */
export const withoutValue = (message: string): string => message.replace(/('--?[^'=]+)=[\s\S]*'/, "$1'");

const shownMessage = (error: unknown): string => maskWallets(withoutValue(messageOf(error))).replace(/^error: /, '');

/** What an error has to say. */
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
