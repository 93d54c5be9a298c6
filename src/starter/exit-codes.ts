import { CommanderError } from 'commander';
import {
  AgainRefusedError,
  DecisionRefusedError,
  InvalidInputError,
  OrderConflictError,
  OrderFailedError,
  ServiceRequestFailedError,
  TemporalSetupError,
  TemporalUnreachableError,
  UnknownOrderError,
} from '../client/errors.js';
import { SERVICE_REJECTED } from '../contract/failures.js';
import type { OrderResult } from '../contract/orders.js';

/** What the starter exits with. 4: not decided yet, never start it under another id. */
export const EXIT = { done: 0, endedWithoutSuccess: 1, badUsage: 2, unreachable: 3, undecided: 4 } as const;

/** One of the five exit codes. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Bad usage that no option parser sees, such as an unreadable input file. The message shows no value. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** 0 for a completed order and for a partial one whose compensation is done; 1 for every other end. */
export function exitCodeOfResult({ outcome, compensation }: OrderResult): ExitCode {
  const madeUp = outcome === 'completed_partially' && compensation?.status === 'done';
  return outcome === 'completed' || madeUp ? EXIT.done : EXIT.endedWithoutSuccess;
}

const BAD_USAGE = [
  UsageError,
  InvalidInputError,
  OrderConflictError,
  DecisionRefusedError,
  UnknownOrderError,
  TemporalSetupError,
];

/** The exit code of an error. What nobody foresaw says nothing about the order, so it counts as undecided. */
export function exitCodeOfError(error: unknown): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.badUsage;
  if (BAD_USAGE.some((kind) => error instanceof kind)) return EXIT.badUsage;
  if (error instanceof TemporalUnreachableError) return EXIT.unreachable;
  if (error instanceof OrderFailedError)
    return error.type === 'InvalidOrder' ? EXIT.badUsage : EXIT.endedWithoutSuccess;
  if (error instanceof AgainRefusedError) return error.undecided ? EXIT.undecided : EXIT.badUsage;
  if (error instanceof ServiceRequestFailedError) {
    return error.type === SERVICE_REJECTED ? EXIT.badUsage : EXIT.endedWithoutSuccess;
  }
  return EXIT.undecided;
}
