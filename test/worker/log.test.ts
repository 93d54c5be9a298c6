import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  DefaultFailureConverter,
  defaultPayloadConverter,
  TerminatedFailure,
  TimeoutFailure,
} from '@temporalio/common';
import { ContinueAsNew } from '@temporalio/workflow';
import { describe, expect, test } from 'vitest';
import { shownEntry, shownFields } from '../../src/worker/log.js';

const WALLET = '4111111111111111';
const SECRETS = [WALLET, 'the-api-secret', 'the-signature', 'anna@example.com', 'DE89370400440532013000'];

const order = { order_id: 'o-1', wallet: WALLET, wallet_details: { recipient_email: 'anna@example.com' } };

/** A raw HTTP error as clients make them: everything hangs on enumerable fields. */
function httpError(): Error {
  return Object.assign(new Error('Response code 500'), {
    options: { headers: { 'API-Key': 'the-api-secret', Signature: 'the-signature' }, body: JSON.stringify(order) },
    response: { body: { order, iban: 'DE89370400440532013000' } },
  });
}

describe('fields of a log entry', () => {
  test('show where it happened', () => {
    const where = {
      workflowId: 'order:default:o-1',
      workflowType: 'withdraw',
      runId: 'r',
      activityType: 'createOrder',
      attempt: 2,
      taskQueue: 'payment-service:default:create',
      verdict: 'accepted',
    };
    expect(shownFields(where)).toEqual(where);
  });

  test('show an account and what it may send', () => {
    const pace = { account: 'default', requestsPerSecond: 18.6, retryAfterMs: 2_000 };
    expect(shownFields(pace)).toEqual(pace);
  });

  test('mask a card number, an IBAN or an e-mail that somebody chose as an id, and that an error repeats', () => {
    const { workflowId, error } = shownFields({
      workflowId: `order:${WALLET}:DE89370400440532013000`,
      error: new Error(`no order ${WALLET} of anna@example.com`),
    });
    for (const secret of SECRETS) expect(JSON.stringify([workflowId, error])).not.toContain(secret);
    expect(workflowId).toBe('order:****1111:****3000');
  });

  test('are none where the entry has none', () => {
    expect(shownFields()).toEqual({});
  });

  test.for<[string, Record<string, unknown>]>([
    ['an input', { input: { order }, args: [{ order }] }],
    ['an activity’s headers and heartbeat', { headers: order, heartbeatDetails: order }],
    ['a result', { result: { order } }],
    ['failure details', { error: ApplicationFailure.nonRetryable('bad', 'InvalidOrder', [order]) }],
    ['a raw HTTP error', { error: httpError() }],
    ['a chain of causes', { error: Object.assign(new Error('outer'), { cause: httpError() }) }],
    ['an error under another name', { err: httpError(), cause: httpError(), reason: httpError() }],
    ['something thrown that is no error', { error: { order } }],
    ['a memo', { memo: { wallet: WALLET } }],
  ])('never show what comes with %s', ([, meta]) => {
    const shown = JSON.stringify(shownFields({ workflowId: 'order:default:o-1', ...meta }));
    expect(shown).toContain('order:default:o-1');
    for (const secret of SECRETS) expect(shown).not.toContain(secret);
  });

  test('show an error by its type and message alone, without its stack', () => {
    const error = ApplicationFailure.create({ type: 'UnavailableError', message: 'HTTP 503', details: [order] });
    expect(shownFields({ error })).toEqual({ error: { type: 'UnavailableError', message: 'HTTP 503' } });
  });
});

test('that a queue of an account has no workflows is not worth a line', () => {
  const message = 'No workflows registered, not polling for workflow tasks';
  expect(shownEntry({ level: 'WARN', message, meta: {} })).toBeUndefined();
});

describe('a workflow task that fails', () => {
  const message = 'workflow task failed: the workflow makes no progress, and the server repeats the task';
  const failure = `Failure { failure: Some(Failure { message: "no order \\"${WALLET}\\"", source: "", stack_trace: "zz" }) }`;

  test('is told once, though the workflow and the native part of the SDK tell it', () => {
    const told = new Set();
    const error = new Error(`no order ${WALLET}`);
    const first = shownEntry({ level: 'WARN', message: 'Workflow failed', meta: { runId: 'r', error } }, told);
    const fields = { runId: 'r', cause: 'no order ****1111' };
    expect(first).toEqual({ level: 'ERROR', message, fields });
    const again = { level: 'WARN', message: 'Failing workflow task', meta: { runId: 'r', failure } } as const;
    expect(shownEntry(again, told)).toBeUndefined();
  });

  test('is an error with its cause where the native part alone tells it', () => {
    const shown = shownEntry({ level: 'WARN', message: 'Failing workflow task', meta: { runId: 'r', failure } });
    expect(shown).toEqual({ level: 'ERROR', message, fields: { runId: 'r', cause: 'no order \\"****1111\\"' } });
  });

  const cause = ApplicationFailure.nonRetryable('bad', 'InvalidOrder');
  const child = { workflowId: 'order:default:o-1' };
  const failures: Error[] = [
    cause,
    new CancelledFailure('cancelled'),
    new TerminatedFailure('terminated'),
    new TimeoutFailure('too late', undefined, 'START_TO_CLOSE'),
    new ActivityFailure('an activity failed', 'readService', '1', 'TIMEOUT', undefined, cause),
    new ChildWorkflowFailure('default', child, 'withdraw', 'TIMEOUT', cause),
    new ContinueAsNew({ workflowType: 'bulkWithdraw' }),
  ];
  const converter = new DefaultFailureConverter();
  const fromHistory = (failure: unknown) =>
    converter.failureToError(converter.errorToFailure(failure, defaultPayloadConverter), defaultPayloadConverter);
  const withoutStack = (error: Error) => Object.assign(error, { stack: '' });
  // As an error is that came from the thread of a workflow.
  const fromThread = (error: Error): Error => structuredClone(error);

  test.for<[string, Error]>([
    ...failures.map((error): [string, Error] => [error.name, error]),
    ...failures.map((error): [string, Error] => [`${error.name} of a thread`, fromThread(error)]),
    ['ApplicationFailure that an activity threw', fromThread(fromHistory(cause))],
    ['ActivityFailure as the server writes it', fromThread(withoutStack(fromHistory(failures[4])))],
  ])('is not a workflow that ends: %s', ([, error]) => {
    const shown = shownEntry({ level: 'WARN', message: 'Workflow failed', meta: { error } });
    expect(shown).toMatchObject({ level: 'WARN', message: 'Workflow failed' });
  });

  test.for<[string, unknown]>([
    ['a mistake of the code', fromThread(new TypeError('order is undefined'))],
    [
      'an error with a name of its own',
      fromThread(Object.assign(new Error('no key'), { name: 'PayloadDecryptionError' })),
    ],
    ['an error whose words name a failure', fromThread(new Error('ApplicationFailure: bad'))],
    ['something that is no error', undefined],
  ])('is %s, thrown in the thread of a workflow', ([, error]) => {
    const shown = shownEntry({ level: 'WARN', message: 'Workflow failed', meta: { error } });
    expect(shown).toMatchObject({ level: 'ERROR', message });
  });
});
