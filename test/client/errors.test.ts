import { describe, expect, it } from 'vitest';
import {
  type ClientError,
  ConfigError,
  ConflictError,
  FailedError,
  InvalidInputError,
  isClientError,
  NotDecidedYetError,
  NoWorkerError,
  PayloadDecryptionError,
  RefusedError,
  TemporalSetupError,
  TemporalUnreachableError,
  UnknownIdError,
  UnresolvedError,
} from '../../src/index.js';

const ONE_OF_EACH: [ClientError['kind'], ClientError][] = [
  ['config', new ConfigError(['X: is required'])],
  ['unreachable', new TemporalUnreachableError('a:1', 'default', 'refused')],
  ['setup', new TemporalSetupError('no', 'do')],
  ['decryption', new PayloadDecryptionError('no key')],
  ['noWorker', new NoWorkerError('q')],
  ['invalidInput', new InvalidInputError([{ field: 'order.amount', reason: 'required' }])],
  ['conflict', new ConflictError('batch', 'b', ['file.sha256'])],
  ['failed', new FailedError('order', 'o', 'OrderAbsent', 'closed')],
  ['refused', new RefusedError('order', 'o', 'decision', 'stale')],
  ['notDecidedYet', new NotDecidedYetError('batch', 'b')],
  ['unresolved', new UnresolvedError('order', 'o', 'terminated')],
  ['unknown', new UnknownIdError('schedule', 'p', 'default')],
];

describe('an error of the library', () => {
  it.each(ONE_OF_EACH)('is told by its kind: %s', (kind, error) => {
    expect(isClientError(error)).toBe(true);
    expect(error.kind).toBe(kind);
  });

  it('is none of ours when it is a bug', () => {
    expect(isClientError(new TypeError('a bug'))).toBe(false);
    expect(isClientError({ kind: 'failed' })).toBe(false);
  });

  it.each([
    new ConflictError('schedule', 'payroll', ['times']),
    new FailedError('address', 'shop-7', 'ServiceUnavailable', 'down'),
    new UnknownIdError('received', 'uuid-1', 'default'),
  ])('says what it is about: $subject $id', (error) => {
    expect(error).toMatchObject({ subject: expect.any(String), id: expect.any(String) });
  });

  it.each([
    new NotDecidedYetError('order', 'o'),
    new NotDecidedYetError('received', 'u'),
    new NotDecidedYetError('batch', 'b'),
    new UnresolvedError('order', 'o', 'terminated'),
    new UnresolvedError('order', 'o', 'closed by ann', true),
    new RefusedError('order', 'o', 'again', 'it is still open', true),
  ])('of what may have been sent forbids another id: $message', ({ message }) => {
    expect(message).toMatch(
      /never (start it|send its rows) under (an)?other id|call again with the same id. A new id could pay twice/i,
    );
  });

  it('shows no card number that stands in an order id', () => {
    expect(new UnresolvedError('order', 'pay-4111111111111111', 'terminated').message).not.toContain(
      '4111111111111111',
    );
  });
});
