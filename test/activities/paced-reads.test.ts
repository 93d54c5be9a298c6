import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import type { Account } from '../../src/activities/index.js';
import { PacedReads } from '../../src/activities/paced-reads.js';
import {
  NoAnswerError,
  type PaymentServiceError,
  RateLimitedError,
  RejectedError,
  UnexpectedStatusError,
} from '../../src/payment-service/errors.js';

const ACCOUNT = {} as Account;

/** Runs reads inside an activity; answers when each of them reached the service, in ms since the first was asked for. */
async function times(reads: PacedReads, count: number, failures: PaymentServiceError[] = []): Promise<number[]> {
  const at: number[] = [];
  const startedAt = performance.now();
  await new MockActivityEnvironment().run(async () => {
    for (let n = 0; n < count; n += 1) {
      await reads.ask(async () => {
        at.push(performance.now());
        const error = failures.shift();
        if (error) throw error;
      });
    }
  });
  return at.map((ms) => ms - startedAt);
}

describe('the reads of a scan', () => {
  test('wait for the turn of a scan', async () => {
    await new MockActivityEnvironment().run(async () => {
      await new PacedReads(ACCOUNT).ask(async (_, options) => expect(options.turn).toBe('scan'));
      // Of sums for which orders wait.
      await new PacedReads(ACCOUNT, 1, 'read').ask(async (_, options) => expect(options.turn).toBe('read'));
    });
  });

  test.each([[new UnexpectedStatusError(503)], [new NoAnswerError('timeout')], [new RateLimitedError(1_000)]])(
    'are tried again a second after %s',
    async (error) => {
      const [, second = 0] = await times(new PacedReads(ACCOUNT), 1, [error]);
      expect(second).toBeGreaterThanOrEqual(990);
    },
  );

  test('fail at once where another try cannot help', async () => {
    await expect(times(new PacedReads(ACCOUNT), 1, [new RejectedError()])).rejects.toThrow(RejectedError);
  });
});
