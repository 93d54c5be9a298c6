import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testWorkflowBundle } from '../support/bundle-once.js';
import { useNamespace } from '../support/temporal.js';
import type { Report } from './programs/lab.js';
import { runOnServer } from './programs/on-server.js';
import { programs } from './programs/programs.js';

const temporal = useNamespace();
let real: Awaited<ReturnType<typeof runOnServer>>;
let simulated: Promise<Record<string, Report | string>>;

/** The engine replaces the clock of its process for good, so it has one of its own. */
async function onEngine(bundle: string): Promise<Record<string, Report | string>> {
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  const { stdout } = await execa('node', ['--import', 'tsx', 'test/simulator/programs/on-engine.ts', bundle], { cwd });
  return JSON.parse(stdout);
}

beforeAll(async () => {
  const bundle = await testWorkflowBundle(new URL('./programs/workflows.ts', import.meta.url));
  real = await runOnServer(temporal, bundle);
  simulated = onEngine(bundle.codePath);
  // Each test waits for its own; what fails before that fails there.
  simulated.catch(() => undefined);
  for (const report of real.reports.values()) report.catch(() => undefined);
});

afterAll(() => real?.stop());

test.each(programs.map(({ name }) => name))('the engine does as the server: %s', async (name) => {
  const expected = await real.reports.get(name);
  expect((await simulated)[name]).toEqual(expected);
});
