/**
 * `npm run mutants`: breaks a copy of our own code in every known deadly way and sees that a named test notices. Words after
 * `--` choose those whose name or file has each of them.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyTree } from './mutants/copy-tree.js';
import { applyMutant, type Mutant } from './mutants/mutant.js';
import { runTests, type TestOutcome } from './mutants/run-tests.js';
import { MUTANTS } from './mutants/table.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const words = process.argv.slice(2);
const chosen = MUTANTS.filter(({ name, file }) => words.every((word) => name.includes(word) || file.includes(word)));
const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => stop.abort(new Error(`stopped by ${name}`)));

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const seconds = (sinceMs: number): string => `${Math.round((performance.now() - sinceMs) / 1_000)} s`;

/** Runs tests in a fresh copy of the tree, with the mutant's mistake in it if one is given. */
async function runInCopy(tests: readonly Mutant['test'][], mutant?: Mutant): Promise<TestOutcome[]> {
  const copy = await copyTree(root);
  try {
    if (mutant) {
      const file = join(copy.root, mutant.file);
      await writeFile(file, applyMutant(mutant, await readFile(file, 'utf8')));
    }
    return await runTests(copy.root, tests, stop.signal);
  } finally {
    await copy.remove();
  }
}

/** A test that fails anyway kills every mutant, so its mutants are not judged. Resolves to the others. */
async function judged(): Promise<Mutant[]> {
  const startedMs = performance.now();
  print(`the code as it is: ${chosen.length} tests …`);
  const outcomes = await runInCopy(chosen.map(({ test }) => test));
  const passing = chosen.filter((_, n) => outcomes[n] === 'passed');
  print(`the code as it is: ${passing.length} of ${chosen.length} pass (${seconds(startedMs)})`);
  for (const { name, test } of chosen.filter((mutant) => !passing.includes(mutant)))
    print(`NOT JUDGED  ${name}: without it, too, this does not pass: ${test.file}: ${test.name}`);
  return passing;
}

/** True when the mutant's test noticed it. */
async function isKilled(mutant: Mutant, place: string): Promise<boolean> {
  const startedMs = performance.now();
  const [outcome] = await runInCopy([mutant.test], mutant);
  const verdict = outcome === 'failed' ? 'killed' : outcome === 'passed' ? 'SURVIVED' : 'TEST DID NOT RUN';
  print(`${place}  ${verdict}  ${mutant.name}  ←  ${mutant.test.file}: ${mutant.test.name} (${seconds(startedMs)})`);
  return outcome === 'failed';
}

try {
  if (chosen.length === 0) throw new Error(`no mutant has ${words.join(' and ')} in its name or file`);
  // All texts are looked for before anything is run.
  for (const mutant of MUTANTS) applyMutant(mutant, await readFile(join(root, mutant.file), 'utf8'));
  let killed = 0;
  for (const [n, mutant] of (await judged()).entries()) {
    if (await isKilled(mutant, `${n + 1}/${chosen.length}`)) killed += 1;
  }
  print(`${killed} of ${chosen.length} killed`);
  process.exitCode = killed === chosen.length ? 0 : 1;
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
