/**
 * `npm run mutants`: breaks a copy of our own code in every known deadly way and sees that a named test notices. Words after
 * `--` choose those whose name or file has each of them. `--simulate`: sees that a seed of the simulator notices those of the
 * order's own code that the exhaustive check does not judge.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { inCopy } from './mutants/in-copy.js';
import { applyMutant, type Mutant } from './mutants/mutant.js';
import { runTests, type TestOutcome } from './mutants/run-tests.js';
import { MUTANTS } from './mutants/table.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const given = process.argv.slice(2);
const isSimulated = given.includes('--simulate');
const words = given.filter((word) => word !== '--simulate');
const SIMULATED = /^src\/(workflows|activities\/order)\//;
const chosen = MUTANTS.filter(({ name, file }) =>
  words.every((word) => name.includes(word) || file.includes(word)),
).filter(({ file, test }) => !isSimulated || (SIMULATED.test(file) && !test.file.startsWith('test/model/')));
const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => stop.abort(new Error(`stopped by ${name}`)));

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const seconds = (sinceMs: number): string => `${Math.round((performance.now() - sinceMs) / 1_000)} s`;

const runInCopy = (tests: readonly Mutant['test'][], mutant?: Mutant): Promise<TestOutcome[]> =>
  inCopy(root, mutant, (folder) => runTests(folder, tests, stop.signal));

/** Seeds within which the simulator has to notice a mutant. */
const SEEDS = '300';

/** True when a story of the simulator breaks a rule, or cannot be lived. */
async function isNoticed(mutant: Mutant, place: string): Promise<boolean> {
  const startedMs = performance.now();
  const args = ['--seeds', SEEDS, '--orders', '20', '--first'];
  const { exitCode, stdout } = await inCopy(root, mutant, (cwd) =>
    execa('node', ['--max-semi-space-size=64', '--import', 'tsx', 'simulator/main.ts', ...args], {
      ...{ cwd, reject: false, cancelSignal: stop.signal },
    }),
  );
  stop.signal.throwIfAborted();
  const finding = stdout
    .split('\n')
    .filter((line) => /^(seed .* findings| {2}✘)/.test(line))
    .slice(0, 2);
  const verdict = exitCode === 0 ? 'SURVIVED' : 'killed';
  print(`${place}  ${verdict}  ${mutant.name}  ←  ${finding.join(' ') || 'no story'} (${seconds(startedMs)})`);
  return exitCode !== 0;
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
  const see = isSimulated ? isNoticed : isKilled;
  for (const [n, mutant] of (isSimulated ? chosen : await judged()).entries()) {
    if (await see(mutant, `${n + 1}/${chosen.length}`)) killed += 1;
  }
  print(`${killed} of ${chosen.length} killed`);
  process.exitCode = killed === chosen.length ? 0 : 1;
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
