/**
 * `npm test [-- <vitest arguments>]`: makes sure that the test server is there, runs vitest, closes with the counts.
 *
 * A few tests that failed beside all others run once more, alone: what only a busy machine can fail is named and counted, and
 * not red. An error outside of all tests is red at once.
 */
import { readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { findTemporalCli } from './temporal/find-cli.js';
import { countsLine, type FailedTest, failedTests, hasPassed, type TestReport } from './test-counts.js';

/** Of some thousand tests; if more failed, a second attempt would only delay the report. */
const MOST_RUN_ALONE = 12;

const root = fileURLToPath(new URL('..', import.meta.url));
const given = process.argv.slice(2);
const log = (line: string): void => void process.stderr.write(`${line}\n`);

/** Runs vitest, which writes a report of this name; without a report it did not come to its tests. */
async function runTests(
  name: 'results' | 'results-alone',
  vitestArguments: string[],
): Promise<{ exitCode: number; report?: TestReport }> {
  const file = `test-results/${name}.json`;
  const { exitCode = 1 } = await execa('vitest', ['run', `--outputFile.json=${file}`, ...vitestArguments], {
    cwd: root,
    preferLocal: true,
    stdio: 'inherit',
    reject: false,
  });
  const report = await readFile(join(root, file), 'utf8').catch(() => undefined);
  return { exitCode, ...(report !== undefined && { report: JSON.parse(report) }) };
}

/** Whether tests that failed pass if their files run one after the other, with nothing of ours beside them. */
async function passAlone(failed: FailedTest[]): Promise<boolean> {
  const files = [...new Set(failed.map(({ file }) => file))];
  log(`once more, alone: ${files.map((file) => relative(root, file)).join(', ')}`);
  // A file may belong to more projects than those that ran.
  const projects = chosen.filter((word, n) => word === '--project' || chosen[n - 1] === '--project');
  const { exitCode, report } = await runTests('results-alone', ['--no-file-parallelism', ...projects, ...files]);
  return exitCode === 0 && report !== undefined && failed.every((test) => hasPassed(report, test));
}

for (const name of ['results', 'results-alone']) await rm(join(root, 'test-results', `${name}.json`), { force: true });
// With arguments only some tests run, perhaps none that needs a server; the others' set-up prepares the same.
if (given.length === 0 && !process.env.TEMPORAL_ADDRESS) await findTemporalCli(log);
// The long reliability tests have a command of their own.
const chosen = given.length > 0 ? given : ['--project', 'unit', '--project', 'simulated', '--project', 'temporal'];
const { exitCode, report } = await runTests('results', chosen);
process.exitCode = exitCode;
if (report === undefined) log('vitest wrote no report');
else {
  const failed = failedTests(report);
  // A developer who names tests wants to see their failure at once.
  const mayRunAlone = (given.length === 0 || process.env.CI !== undefined) && report.otherErrors.length === 0;
  const passedAlone = mayRunAlone && failed.length > 0 && failed.length <= MOST_RUN_ALONE && (await passAlone(failed));
  if (passedAlone) process.exitCode = 0;
  const named = (file: string, ...words: string[]): string => [relative(root, file), ...words].join(' > ');
  for (const { file, reason } of report.otherErrors) log(`failed: ${named(file, 'outside of all tests')}: ${reason}`);
  for (const { file, fullName, reason } of failed) {
    log(`${passedAlone ? 'passed only alone, which is a finding' : 'failed'}: ${named(file, fullName)}: ${reason}`);
  }
  if (passedAlone) log(`${failed.length} passed only alone`);
  process.stdout.write(`${countsLine(report, passedAlone ? failed.length : 0)}\n`);
}
