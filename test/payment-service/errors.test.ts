import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  errorFromResponse,
  MalformedResponseError,
  NoAnswerError,
  NotSentError,
  PaymentServiceError,
  RateLimitedError,
  RejectedError,
  UnexpectedStatusError,
} from '../../src/payment-service/errors.js';

describe('errorFromResponse', () => {
  test('200 is no error, and 400 is a rejection', () => {
    expect(errorFromResponse(200, {})).toBeUndefined();
    expect(errorFromResponse(400, {})).toBeInstanceOf(RejectedError);
  });

  test.each([
    100, 101, 103, 201, 202, 204, 206, 301, 302, 303, 304, 307, 308, 401, 403, 404, 405, 409, 410, 413, 422, 500, 502,
    503, 504, 0, 999,
  ])('%i is unexpected', (status) => {
    const error = errorFromResponse(status, { 'retry-after': '7' });
    expect(error).toBeInstanceOf(UnexpectedStatusError);
    expect(error).toMatchObject({ code: 'unexpected_status', status });
  });

  test.each([
    ['seconds', '7', 7_000],
    ['blanks around', ' 7 ', 7_000],
    ['zero: still a pause', '0', 1_000],
    ['ten days', '864000', 60_000],
    ['more digits than a number holds', '9'.repeat(400), 60_000],
    ['nothing', undefined, 5_000],
    ['empty', '', 5_000],
    ['garbage', 'soon', 5_000],
    ['a negative number', '-5', 5_000],
    ['a fraction', '1.5', 5_000],
    ['a date', 'Fri, 02 Jan 2026 03:04:15 GMT', 5_000],
  ])('429 with %s as Retry-After', (_, header, retryAfterMs) => {
    const error = errorFromResponse(429, { 'retry-after': header });
    expect(error).toBeInstanceOf(RateLimitedError);
    expect(error).toMatchObject({ code: 'rate_limited', retryAfterMs });
  });
});

test('errors carry their class, a stable code and no cause', () => {
  const errors = [
    new NotSentError('ECONNREFUSED'),
    new NoAnswerError('timeout'),
    new RejectedError(),
    new RateLimitedError(1_000),
    new UnexpectedStatusError(503),
    new MalformedResponseError([{ field: 'data.status', reason: 'required' }]),
  ];
  expect(errors.map(({ code }) => code)).toEqual([
    'not_sent',
    'no_answer',
    'rejected',
    'rate_limited',
    'unexpected_status',
    'malformed_response',
  ]);
  for (const error of errors) {
    expect(error).toBeInstanceOf(PaymentServiceError);
    expect(error.name).toBe(error.constructor.name);
    expect(inspect(error)).toContain(error.name);
    expect(error.cause).toBeUndefined();
  }
});
