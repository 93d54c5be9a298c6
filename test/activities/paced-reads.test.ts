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

const accountOf = (requestsPerSecond?: number) =>
  ({ name: 'default', host: 'x', ...(requestsPerSecond && { requestsPerSecond }) }) as unknown as Account;

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
  test('take a tenth of the requests a second', async () => {
    const [, , , fourth = 0] = await times(new PacedReads(accountOf(200)), 4);
    expect(fourth).toBeGreaterThanOrEqual(145);
  });

  test('are not slowed down where no limit is configured', async () => {
    expect((await times(new PacedReads(accountOf()), 50)).at(-1)).toBeLessThan(1_000);
  });

  test.each([[new UnexpectedStatusError(503)], [new NoAnswerError('timeout')], [new RateLimitedError(1_000)]])(
    'are tried again a second after %s',
    async (error) => {
      const [, second = 0] = await times(new PacedReads(accountOf()), 1, [error]);
      expect(second).toBeGreaterThanOrEqual(990);
    },
  );

  test('fail at once where another try cannot help', async () => {
    await expect(times(new PacedReads(accountOf()), 1, [new RejectedError()])).rejects.toThrow(RejectedError);
  });
});
