import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { batchFilesActivity } from '../../../src/activities/batch/batch-files.js';

/** A file of 20 MB. */
const ROWS = 200_000;
const LINE = `r-1,usd,card,10,4111111111111111,${'x'.repeat(70)}\n`;

test('of 20 callers at once two are served, and the others hear that the worker is busy', async () => {
  const batchDir = await mkdtemp(join(tmpdir(), 'payment-orders-files-'));
  onTestFinished(() => rm(batchDir, { recursive: true }));
  const header = 'order_id,currency,network,amount,wallet,description\n';
  await writeFile(join(batchDir, 'large.csv'), header + LINE.repeat(ROWS), { mode: 0o600 });
  const batchFiles = batchFilesActivity({ directories: { batchDir } });
  const ask = (after: number) =>
    new MockActivityEnvironment().run(batchFiles, {
      act: 'rows' as const,
      ...{ account: 'default', file: { path: 'large.csv' }, after, limit: 10 },
    });
  const before = process.memoryUsage().rss;
  const answers = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => ask(n * 1_000)));
  const served = answers.filter(({ status }) => status === 'fulfilled');
  expect(served).toHaveLength(2);
  const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
  expect(refused.map(({ message, nonRetryable }) => [message, nonRetryable])).toEqual(
    Array(18).fill(['the worker is busy with other files', false]),
  );
  expect((process.memoryUsage().rss - before) / 2 ** 20).toBeLessThan(150);
  // The worker rests as long as four pages took, and those that wait ask one after the other.
  const delays = refused.map(({ nextRetryDelay }) => nextRetryDelay);
  expect(Math.max(...delays)).toBeGreaterThan(1_000 + 15 * 200);
  await expect(ask(0)).rejects.toThrow('busy');
  await vi.waitFor(async () => expect(await ask(0)).toHaveLength(11), { timeout: 20_000, interval: 100 });
});
