import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
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
