import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import {
  ConflictError,
  FailedError,
  InvalidInputError,
  NotDecidedYetError,
  NoWorkerError,
  RefusedError,
  TemporalSetupError,
  TemporalUnreachableError,
  UnknownIdError,
  UnresolvedError,
} from '../../src/client/errors.js';
import { type BatchOutcomes, type BatchResult, NONE_ENDED } from '../../src/contract/batch/batch.js';
import type { OrderFailure } from '../../src/contract/failures.js';
import type { CompensationResult, OrderResult } from '../../src/contract/order/input-and-result.js';
import type { Order } from '../../src/contract/service-objects.js';
import { exitCodeOfBatch, exitCodeOfError, exitCodeOfResult, UsageError } from '../../src/starter/report.js';

const result = (outcome: OrderResult['outcome'], status?: CompensationResult['status']): OrderResult => ({
  outcome,
  order: {} as Order,
  adopted: false,
  ...(status && { compensation: { policy: 'finish', status } }),
});

describe('the exit code of a result', () => {
  it.each([
    [0, result('completed')],
    [0, result('completed', 'none')],
    [0, result('completed_partially', 'done')],
    [1, result('completed_partially')],
    [1, result('completed_partially', 'none')],
    [1, result('completed_partially', 'failed')],
    [1, result('completed_partially', 'not_possible')],
    [1, result('canceled')],
    [1, result('error')],
    [1, result('error', 'done')],
  ])('is %d', (code, ended) => {
    expect(exitCodeOfResult(ended)).toBe(code);
  });
});

const outcomes: BatchOutcomes = { ...NONE_ENDED, completed: 3, notStarted: 0 };

describe('the exit code of a batch', () => {
  it.each<[number, Partial<BatchOutcomes>]>([
    [0, {}],
    [1, { completed: 2, completed_partially: 1 }],
    [1, { completed: 2, canceled: 1 }],
    [1, { completed: 2, error: 1 }],
    [1, { completed: 2, refused: 1 }],
    [1, { completed: 2, conflict: 1 }],
    [1, { completed: 2, notStarted: 1 }],
    [4, { completed: 2, parked: 1 }],
    [4, { completed: 0, error: 2, parked: 1 }],
  ])('is %d for %j', (code, change) => {
    expect(exitCodeOfBatch({ rows: 3, outcomes: { ...outcomes, ...change } } as BatchResult)).toBe(code);
  });
});

const failed = (type: OrderFailure) => new FailedError('order', 'o-1', type, 'because');

describe('the exit code of an error', () => {
  it.each<[number, unknown]>([
    [0, new CommanderError(0, 'commander.helpDisplayed', 'help')],
    [2, new CommanderError(1, 'commander.unknownOption', 'no')],
    [2, new UsageError('no')],
    [2, new InvalidInputError([])],
    [2, new ConflictError('order', 'o-1', ['order.amount'])],
    [2, new RefusedError('order', 'o-1', 'decision', 'stale')],
    [2, new UnknownIdError('order', 'o-1', 'default')],
    [2, new TemporalSetupError('no', 'do')],
    [2, failed('InvalidOrder')],
    [1, failed('OrderRejected')],
    [1, failed('OrderConflict')],
    [1, failed('OrderCancelled')],
    [1, failed('OrderAbsent')],
    [3, new TemporalUnreachableError('a', 'n', 'down')],
    [4, new NotDecidedYetError('order', 'o-1')],
    [4, new NoWorkerError('q')],
    [4, new UnresolvedError('order', 'o-1', 'terminated')],
    [4, new UnresolvedError('order', 'o-1', 'closed by ann', true)],
    [4, new RefusedError('order', 'o-1', 'again', 'open', true)],
    [2, new RefusedError('order', 'o-1', 'again', 'completed', false)],
    [1, new FailedError('read', 'default', 'ServiceUnavailable', 'down')],
    [2, new FailedError('read', 'default', 'ServiceRejected', 'no')],
    [2, new ConflictError('batch', 'b', ['file.sha256'])],
    [2, new RefusedError('batch', 'b', 'instruction', 'stale')],
    [2, new UnknownIdError('batch', 'b', 'default')],
    [2, new ConflictError('schedule', 'p', ['times'])],
    [2, new UnknownIdError('schedule', 'p', 'default')],
    [2, new FailedError('batch', 'b', 'InvalidInput', 'bad rows')],
    [2, new FailedError('batch', 'b', 'BatchFileUnusable', 'no such file')],
    [1, new FailedError('batch', 'b', 'BatchNotApproved', 'nobody did')],
    [1, new FailedError('batch', 'b', 'BatchStopped', 'stopped')],
    [4, new NotDecidedYetError('batch', 'b')],
    [4, new UnresolvedError('batch', 'b', 'terminated')],
    [4, new Error('a bug says nothing about the order')],
    [4, 'not even an error'],
  ])('is %d for %s', (code, error) => {
    expect(exitCodeOfError(error)).toBe(code);
  });
});
