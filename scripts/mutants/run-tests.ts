import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { SIMULATED_TESTS } from '../../test/support/simulated-tests.js';
import type { Mutant } from './mutant.js';

/** What became of one test; 'missing': it did not run, because its file could not be loaded or has no such test. */
export type TestOutcome = 'passed' | 'failed' | 'missing';

type Report = { testResults: { assertionResults: { fullName: string; status: string }[] }[] };

/** Where the configuration of vitest has its JSON report written. */
const REPORT = 'test-results/results.json';

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Runs the named tests, and nothing else, in a copy of the tree, where they can on virtual time; answers one outcome each. */
export async function runTests(
  root: string,
  tests: readonly Mutant['test'][],
  signal: AbortSignal,
): Promise<TestOutcome[]> {
  const isSimulated = ({ file }: Mutant['test']): boolean =>
    SIMULATED_TESTS.includes(file) || file.endsWith('.simulated.test.ts');
  const simulated = await outcomesOf(root, tests.filter(isSimulated), ['--project', 'simulated'], signal);
  const others = await outcomesOf(
    root,
    tests.filter((test) => !isSimulated(test)),
    [],
    signal,
  );
  return tests.map((test) => (isSimulated(test) ? simulated : others).get(test.name) ?? 'missing');
}

/** What became of each test that ran, by its full name. */
async function outcomesOf(
  root: string,
  tests: readonly Mutant['test'][],
  args: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TestOutcome>> {
  if (tests.length === 0) return new Map();
  const files = [...new Set(tests.map(({ file }) => file))];
  const names = tests.map(({ name }) => escapeRegExp(name)).join('|');
  await rm(join(root, REPORT), { force: true });
  await execa('vitest', ['run', ...files, ...args, '-t', `^(${names})$`], {
    cwd: root,
    preferLocal: true,
    // Told to stop, vitest ends its Temporal server before it ends itself.
    cancelSignal: signal,
    forceKillAfterDelay: 20_000,
    reject: false,
    stdio: 'ignore',
  });
  signal.throwIfAborted();
  const text = await readFile(join(root, REPORT), 'utf8').catch(() => '{"testResults":[]}');
  const results = (JSON.parse(text) as Report).testResults.flatMap(({ assertionResults }) => assertionResults);
  return new Map(
    results.flatMap(({ fullName, status }) =>
      status === 'passed' || status === 'failed' ? [[fullName, status] as const] : [],
    ),
  );
}
