import { ActivityFailure, ApplicationFailure, defaultPayloadConverter } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { loggedError } from '../../src/api/problems.js';
import { bugIn } from '../../src/contract/failures.js';
import { EncodedFailures } from '../../src/contract/refused.js';
import { shownFields } from '../../src/worker/log.js';

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

  test('show lists and times: checks that were passed over, lost events, a failover', () => {
    const facts = { notes: ['no rates'], events: ['e-1', 'e-2'], at: '2026-11-29T10:00:00.000Z' };
    expect(shownFields(facts)).toEqual(facts);
    expect(shownFields({ notes: [`paid to ${WALLET}`], events: [{ order }] })).toEqual({
      notes: ['paid to ****1111'],
      events: [],
    });
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

test('a failure that the native part of the SDK prints is shown by its first message', () => {
  const failure = `Failure { failure: Some(Failure { message: "no order \\"${WALLET}\\"", source: "", stack_trace: "zz" }) }`;
  expect(shownFields({ runId: 'r', failure })).toEqual({ runId: 'r', cause: 'no order \\"****1111\\"' });
  const error = 'Status { code: PermissionDenied, message: "taken back", details: b"zz" }';
  expect(shownFields({ error })).toEqual({ cause: 'taken back' });
  expect(shownFields({ error: 'zz', failure: 'zz' })).toEqual({});
});

describe('a bug', () => {
  const bug = Object.assign(new TypeError(`cannot read 'x'\n    at ${WALLET}`), {
    stack: `TypeError: cannot read 'x'\n    at ${WALLET}\n    at ownOf (src/workflows/ask/ask.ts:1:2)\n    at b (b.ts:3:4)`,
  });
  const place = 'at ownOf (src/workflows/ask/ask.ts:1:2)';

  test('is shown with its place, and nothing else of its stack', () => {
    expect(shownFields({ error: bug })).toEqual({
      error: { type: 'TypeError', message: "cannot read 'x'\n    at ****1111", place },
    });
    expect(shownFields({ error: Object.assign(new Error('x'), { stack: 'of something else' }) })).toEqual({
      error: { type: 'Error', message: 'x' },
    });
  });

  test('in a workflow is shown with its place, as the native part of the SDK prints it, encrypted or not', () => {
    const printed = (message: string, stack: string) =>
      `Failure { failure: Some(Failure { message: "${message}", source: "TypeScriptSDK", stack_trace: "${stack}", cause: None }) }`;
    const plain = printed(
      'x is \\"y\\"',
      'TypeError: x is \\"y\\"\\n    at ownOf (src/workflows/ask/ask.ts:1:2)\\n    at b',
    );
    expect(shownFields({ failure: plain })).toEqual({ cause: 'x is \\"y\\"', place });
    expect(shownFields({ failure: printed('Encoded failure', `    ${place}`) })).toEqual({
      cause: 'Encoded failure',
      place,
    });
    expect(shownFields({ failure: printed('Encoded failure', '') })).toEqual({ cause: 'Encoded failure' });
  });

  test('behind payload keys leaves its place readable, and no other failure any of its stack', () => {
    const failureOf = (error: unknown) => new EncodedFailures(true).errorToFailure(error, defaultPayloadConverter);
    expect(failureOf(bug)).toMatchObject({ message: 'Encoded failure', stackTrace: `    ${place}` });
    const reported = ApplicationFailure.nonRetryable('no order', 'OrderRejected', [order]);
    expect(failureOf(reported)).toMatchObject({ message: 'Encoded failure', stackTrace: '' });
    // What a step reported because of a bug shows where it was.
    const wrapped = ApplicationFailure.create({ message: 'x', type: 'Bug', cause: bug });
    expect(failureOf(wrapped).cause).toMatchObject({ message: 'Encoded failure', stackTrace: `    ${place}` });
  });

  test('that a receiver, the codec or the API logs has a name and a place, and no message', () => {
    expect(bugIn(bug)).toEqual({ error: 'TypeError', place });
    expect(loggedError(bug)).toEqual({ error: 'TypeError', place });
    expect(bugIn({ order })).toEqual({ error: 'something that is no error' });
  });
});

test('a failure is shown with those that caused it, and no other cause', () => {
  const cause = ApplicationFailure.create({
    type: 'UnavailableError',
    message: `HTTP 503 for ${WALLET}`,
    cause: httpError(),
  });
  const error = new ActivityFailure('Activity task failed', 'pollOrder', 'a-1', 'TIMEOUT', '', cause);
  expect(shownFields({ error })).toEqual({
    error: {
      type: 'ActivityFailure',
      message: 'Activity task failed',
      cause: { type: 'UnavailableError', message: 'HTTP 503 for ****1111' },
    },
  });
});
