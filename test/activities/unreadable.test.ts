import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { whyUnreadable } from '../../src/activities/batch/rows/unreadable.js';
import { PayloadDecryptionError } from '../../src/client/errors.js';

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
