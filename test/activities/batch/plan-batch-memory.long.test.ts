import { join } from 'node:path';
import { execaNode } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../../sandbox/index.js';
import { newFolder, writePayouts } from '../../support/batch-files.js';

const LIMIT_MIB = 100;

test('a file of 100,000 rows is checked and planned in less than 100 MiB', { timeout: 180_000 }, async () => {
  const folder = newFolder();
  await writePayouts(join(folder, 'warm-up.csv'), 2_000);
  await writePayouts(join(folder, 'large.csv'), 100_000);
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.close());
  // A process of its own: what the test runner and the sandbox keep in memory is no cost of the plan.
  const script = join(import.meta.dirname, 'plan-large-file.fixture.ts');
  const { url, apiKey, apiSecret } = sandbox;
  const { stdout } = await execaNode(script, [folder, 'large.csv', 'warm-up.csv', url, apiKey, apiSecret], {
    // Where memory is plentiful V8 lets garbage lie: what a plan needs shows under a limit.
    nodeOptions: ['--import', 'tsx', `--max-old-space-size=${LIMIT_MIB}`],
  });
  const cost = JSON.parse(stdout) as { rows: number; heartbeats: number; seconds: number; grownMiB: number };
  expect(cost).toMatchObject({ rows: 100_000 });
  expect(cost.heartbeats).toBeGreaterThan(1_000);
  expect(cost.grownMiB).toBeLessThan(LIMIT_MIB);
});
