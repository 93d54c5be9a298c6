import { CommanderError } from 'commander';
import {
  AgainRefusedError,
  BatchConflictError,
  BatchFailedError,
  BatchRefusedError,
  DecisionRefusedError,
  InvalidInputError,
  OrderConflictError,
  OrderFailedError,
  ScheduleConflictError,
  ServiceRequestFailedError,
  TemporalSetupError,
  TemporalUnreachableError,
  UnknownBatchError,
  UnknownOrderError,
  UnknownScheduleError,
} from '../client/errors.js';
import { ConfigError } from '../config.js';
import { BATCH_FILE_UNUSABLE, type BatchResult } from '../contract/batch/batch.js';
import { INVALID_INPUT, SERVICE_REJECTED } from '../contract/failures.js';
import type { OrderResult } from '../contract/order/result.js';
import { isMalformed } from '../contract/service-objects.js';

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

/** 4 while rows are parked: they may still be paid. 0 when every row completed, 1 for every other end. */
export function exitCodeOfBatch({ rows, outcomes }: BatchResult): ExitCode {
  if (outcomes.parked > 0) return EXIT.undecided;
  return outcomes.completed === rows ? EXIT.done : EXIT.endedWithoutSuccess;
}

/** 1 where a row or entry of an answer cannot be read: what was asked for is not all there. */
export const exitCodeOfRows = (rows: readonly object[]): ExitCode =>
  rows.some(isMalformed) ? EXIT.endedWithoutSuccess : EXIT.done;

const BAD_USAGE = [
  UsageError,
  ConfigError,
  InvalidInputError,
  OrderConflictError,
  DecisionRefusedError,
  UnknownOrderError,
  BatchConflictError,
  BatchRefusedError,
  UnknownBatchError,
  ScheduleConflictError,
  UnknownScheduleError,
  TemporalSetupError,
];

/** The exit code of an error. What nobody foresaw says nothing about the order, so it counts as undecided. */
export function exitCodeOfError(error: unknown): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.badUsage;
  if (BAD_USAGE.some((kind) => error instanceof kind)) return EXIT.badUsage;
  if (error instanceof TemporalUnreachableError) return EXIT.unreachable;
  if (error instanceof OrderFailedError)
    return error.type === 'InvalidOrder' ? EXIT.badUsage : EXIT.endedWithoutSuccess;
  if (error instanceof BatchFailedError) {
    const badInput = error.type === INVALID_INPUT || error.type === BATCH_FILE_UNUSABLE;
    return badInput ? EXIT.badUsage : EXIT.endedWithoutSuccess;
  }
  if (error instanceof AgainRefusedError) return error.undecided ? EXIT.undecided : EXIT.badUsage;
  if (error instanceof ServiceRequestFailedError) {
    return error.type === SERVICE_REJECTED ? EXIT.badUsage : EXIT.endedWithoutSuccess;
  }
  return EXIT.undecided;
}
