import { join } from 'node:path';
import { execaNode } from 'execa';
import { expect, test } from 'vitest';
import { newFolder, writePayouts } from '../support/batch-files.js';

const LIMIT_MIB = 100;

test('a file of 100,000 rows is checked and planned in less than 100 MiB', { timeout: 180_000 }, async () => {
  const folder = newFolder();
  await writePayouts(join(folder, 'warm-up.csv'), 2_000);
  await writePayouts(join(folder, 'large.csv'), 100_000);
  // A process of its own: what the test runner keeps in memory is no cost of the plan.
  const script = join(import.meta.dirname, 'fixtures', 'plan-large-file.ts');
  const { stdout } = await execaNode(script, [folder, 'large.csv', 'warm-up.csv'], {
    nodeOptions: ['--import', 'tsx'],
  });
  const cost = JSON.parse(stdout) as { rows: number; heartbeats: number; seconds: number; grownMiB: number };
  expect(cost).toMatchObject({ rows: 100_000 });
  expect(cost.heartbeats).toBeGreaterThan(1_000);
  expect(cost.grownMiB).toBeLessThan(LIMIT_MIB);
});
