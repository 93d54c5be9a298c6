import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { outcomeOf, whyUnresolved } from '../../src/activities/batch/rows/count.js';
import { wordOfEnd } from '../../src/activities/reconcile/our-runs.js';
import { PayloadDecryptionError } from '../../src/client/errors.js';
import {
  type Standing,
  standingOfEvent,
  standingOfFailure,
  standingOfRun,
  whyUnreadable,
} from '../../src/client/standing.js';
import type { OrderResult } from '../../src/contract/order/input-and-result.js';

type Run = Parameters<typeof standingOfRun>[0];

/** A run as the list shows it. */
const run = (name: string, orderStatus?: string): Run =>
  ({ status: { name, code: 0 }, typedSearchAttributes: { get: () => orderStatus } }) as unknown as Run;

describe('a run in the list', () => {
  test.for<[name: string, orderStatus: string | undefined, standing: Standing | undefined]>([
    ['RUNNING', 'open', { kind: 'open' }],
    ['RUNNING', undefined, { kind: 'open' }],
    ['RUNNING', 'parked', { kind: 'open', waits: 'parked' }],
    ['RUNNING', 'uncertain', { kind: 'open', waits: 'uncertain' }],
    // Its search attribute still says what it was when the workflow was stopped.
    ['TERMINATED', 'parked', { kind: 'unresolved', how: 'terminated' }],
    ['TIMED_OUT', 'open', { kind: 'unresolved', how: 'timed out' }],
    ['CANCELLED', 'open', { kind: 'unresolved', how: 'cancelled' }],
    ['COMPLETED', 'completed', undefined],
    ['FAILED', 'none', undefined],
  ])('%s, %s', ([name, orderStatus, standing]) => {
    expect(standingOfRun(run(name, orderStatus))).toEqual(standing);
  });
});

const failed = (type?: string) => ({
  workflowExecutionFailedEventAttributes: { failure: { applicationFailureInfo: { type } } },
});
const encoded = { payloads: [{ data: Buffer.from('{}') }] };

describe('the newest event of a run', () => {
  test.for<[what: string, event: Parameters<typeof standingOfEvent>[0], standing: object]>([
    ['none', undefined, { kind: 'open' }],
    ['one that closes nothing', { workflowTaskCompletedEventAttributes: {} }, { kind: 'open' }],
    ['a result', { workflowExecutionCompletedEventAttributes: { result: encoded } }, { kind: 'completed', encoded }],
    ['a failure of orders', failed('OrderAbsent'), { kind: 'noOrder', failure: 'OrderAbsent' }],
    ['closed by a person', failed('OrderUnresolved'), { kind: 'unresolved', how: 'closed' }],
    ['another failure', failed('TypeError'), { kind: 'unresolved', how: 'failed', type: 'TypeError' }],
    ['a failure without type', failed(), { kind: 'unresolved', how: 'failed' }],
    ['a terminated one', { workflowExecutionTerminatedEventAttributes: {} }, { kind: 'unresolved', how: 'terminated' }],
    ['a timed out one', { workflowExecutionTimedOutEventAttributes: {} }, { kind: 'unresolved', how: 'timed out' }],
    ['a cancelled one', { workflowExecutionCanceledEventAttributes: {} }, { kind: 'unresolved', how: 'cancelled' }],
  ])('%s', ([, event, standing]) => {
    expect(standingOfEvent(event)).toEqual(standing);
  });
});

const stopped = 'its workflow was terminated';
const removed = 'Temporal no longer has its workflow';

/** What a batch, its report and a reconciliation show of one standing. `how`: of an unresolved end; undefined = an error. */
const PROJECTIONS: [standing: Standing, outcome: string, why: string, how?: string][] = [
  [standingOfFailure('InvalidOrder'), 'refused', 'it is known'],
  [standingOfFailure('OrderRejected'), 'refused', 'it is known'],
  [standingOfFailure('OrderConflict'), 'conflict', 'it is known'],
  [standingOfFailure('OrderUnresolved'), 'conflict', stopped, 'closed by a person in doubt'],
  [standingOfFailure('TypeError'), 'unresolved', 'its workflow failed as TypeError', 'ended by an error'],
  [standingOfFailure(null), 'unresolved', 'its workflow failed as something else', 'ended by an error'],
  [{ kind: 'unresolved', how: 'timed out' }, 'unresolved', stopped, 'timed out'],
  [{ kind: 'notStarted' }, 'unresolved', removed, 'removed by the retention'],
  [{ kind: 'unreadable', what: 'result', why: 'key a' }, 'unresolved', 'its result cannot be read (key a)'],
  [{ kind: 'unreadable', what: 'input', why: 'key a' }, 'unresolved', 'it cannot be read (key a)'],
];

describe('what is shown of a standing', () => {
  test.for(PROJECTIONS)('%j counts as %s', ([standing, outcome, why, how]) => {
    expect([outcomeOf(standing), whyUnresolved(standing)]).toEqual([outcome, why]);
    if (standing.kind === 'open') return;
    if (standing.kind === 'noOrder') expect(wordOfEnd(standing, 'order:a:b')).toEqual(standing);
    else if (how) expect(wordOfEnd(standing, 'order:a:b')).toEqual({ kind: 'unresolved', how });
    else expect(() => wordOfEnd(standing, 'order:a:b')).toThrow(/order:a:b cannot be read \(key a\)/);
  });

  test('an order that goes on is open, or parked where it waits for a person', () => {
    const waits = [undefined, 'uncertain', 'parked'] as const;
    expect(waits.map((wait) => outcomeOf({ kind: 'open', ...(wait && { waits: wait }) }))).toEqual([
      'open',
      'open',
      'parked',
    ]);
  });

  test('a completed one counts as what its result says', () => {
    const result = { outcome: 'completed_partially' } as OrderResult;
    expect(outcomeOf({ kind: 'completed', result })).toBe('completed_partially');
  });
});

/** What reading a payload throws. */
function thrownBy(payload: Payload): unknown {
  try {
    return defaultPayloadConverter.fromPayload(payload);
  } catch (error) {
    return error;
  }
}

const payload = (encoding: string, data: string): Payload => ({
  metadata: { encoding: Buffer.from(encoding) },
  data: Buffer.from(data),
});

describe('a payload', () => {
  test.for<[what: string, payload: Payload]>([
    ['that is no JSON', payload('json/plain', '4111111111111111,')],
    ['in a format that nobody knows', payload('binary/4111111111111111', 'x')],
    ['without a format', { data: Buffer.from('4111111111111111') }],
  ])('%s can never be read, and is not quoted', ([, bad]) => {
    const error = thrownBy(bad);
    expect(error).toBeInstanceOf(Error);
    expect(whyUnreadable(error)).toBe('payload cannot be decoded');
  });

  test('that cannot be decrypted says which key is missing', () => {
    expect(whyUnreadable(new PayloadDecryptionError('payload encrypted with key a'))).toBe(
      'payload encrypted with key a',
    );
  });
});

test('other errors may pass', () => {
  expect([new Error('14 UNAVAILABLE'), new TypeError('x'), undefined].map(whyUnreadable)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
