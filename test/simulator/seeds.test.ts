import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, test, vi } from 'vitest';

vi.setConfig({ testTimeout: 280_000 });

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The simulator replaces the clock of its process for good, so it has one of its own. */
const simulate = (...given: string[]) =>
  execa('node', ['--import', 'tsx', 'simulator/main.ts', ...given], { cwd: root, reject: false });

test('orders of all types live through faults, kills and resets of the first seeds, and no rule is broken', async () => {
  const { stdout, exitCode } = await simulate('--seed', '1', '--seeds', '2', '--orders', '8');
  expect(stdout.split('\n').filter((line) => line.includes('✘'))).toEqual([]);
  expect(stdout).toMatch(/^clean: \d+ stories$/m);
  expect(exitCode).toBe(0);
});

test('the same seed tells the same story, to the byte', async () => {
  const acts = 'kills,limit,policy,batches,events,moments,receipts,decisions';
  const [one, other] = await Promise.all(
    [1, 2].map(() => simulate('--seed', '7', '--orders', '8', '--acts', acts, '--story')),
  );
  expect(one?.stdout.length).toBeGreaterThan(1_000);
  expect(other?.stdout).toBe(one?.stdout);
});

test('an order that is executed twice is found, and the exit code says so', async () => {
  const { stdout, exitCode } = await simulate('--seed', '1', '--orders', '12', '--acts', 'kills', '--plant');
  expect(stdout).toMatch(/✘ doubles: chaos-1(-\d+|\.\d+-batch-\d+) was executed 2 times/);
  expect(exitCode).toBe(1);
});

test.each(['0', '-1', 'x', ''])('bad options are named, and nothing runs: --orders %s', async (orders) => {
  const { stderr, stdout, exitCode } = await simulate(`--orders=${orders}`);
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
  expect(stderr).toContain('--orders: must be a whole number from 1');
});
