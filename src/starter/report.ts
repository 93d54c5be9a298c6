import type { Writable } from 'node:stream';
import { CommanderError } from 'commander';
import { FailedError, InvalidInputError, isClientError } from '../client/errors.js';
import type { PaymentOrders } from '../client.js';
import { type ExitCode, exitCodeOfError } from './exit-codes.js';

/** What a verb has to say: `json` is the one object printed with --json, `text` is for people. */
export interface Report {
  exitCode: ExitCode;
  json: object;
  text: string;
}

/** Runs a verb against Temporal, prints its report and closes the connection. */
export type Run = (verb: (orders: PaymentOrders) => Promise<Report>) => Promise<void>;

/** Everything of the world the starter touches. */
export interface StarterIo {
  stdin: NodeJS.ReadableStream;
  stdout: Writable;
  /** Progress and errors for people. */
  stderr: Writable & { isTTY?: boolean };
  connect: () => Promise<PaymentOrders>;
  /** How this command is typed, for the command lines it suggests. */
  self: string;
}

/** Commander repeats an unknown `--option=value` in full: the value may be a secret that somebody tried to pass. */
export const withoutValue = (message: string): string => message.replace(/('--?[^'=]+)=[\s\S]*'/, "$1'");

const messageOf = (error: unknown): string =>
  withoutValue(error instanceof Error ? error.message : 'unknown error').replace(/^error: /, '');

/** What an error has to say. */
export function reportOfError(error: unknown): Report {
  const message = messageOf(error);
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
