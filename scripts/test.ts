/**
 * `npm test [-- <vitest arguments>]`: makes sure that the test servers are there, runs vitest, closes with the counts.
 *
 * A few tests that failed beside all others run once more, alone: what only a busy machine can fail is told, and not red.
 */
import { readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { findTemporalCli } from './temporal/find-cli.js';
import { findTimeSkippingServer } from './temporal/time-skipping.js';
import { countsLine, type FailedTest, failedTests, type TestReport } from './test-counts.js';

/** Of some thousand tests; if more failed, a second attempt would only delay the report. */
const MOST_RUN_ALONE = 12;

const root = fileURLToPath(new URL('..', import.meta.url));
const reportFile = join(root, 'test-results', 'results.json');
const given = process.argv.slice(2);
const log = (line: string): void => void process.stderr.write(`${line}\n`);
const named = ({ file, fullName, reason }: FailedTest): string => `${relative(root, file)} > ${fullName}: ${reason}`;

/** Runs vitest; without a report it did not come to its tests. */
async function runTests(vitestArguments: string[]): Promise<{ exitCode: number; report?: TestReport }> {
  await rm(reportFile, { force: true });
  const { exitCode = 1 } = await execa('vitest', ['run', ...vitestArguments], {
    cwd: root,
    preferLocal: true,
    stdio: 'inherit',
    reject: false,
  });
  const report = await readFile(reportFile, 'utf8').catch(() => undefined);
  return { exitCode, ...(report !== undefined && { report: JSON.parse(report) }) };
}

/** Whether the files of tests that failed pass, one after the other, with nothing of ours beside them. */
async function passAlone(failed: FailedTest[]): Promise<boolean> {
  const files = [...new Set(failed.map(({ file }) => file))];
  log(`once more, alone: ${files.map((file) => relative(root, file)).join(', ')}`);
  const { exitCode } = await runTests(['--no-file-parallelism', ...files]);
  return exitCode === 0;
}

// With arguments only some tests run, perhaps none that needs a server; the others' set-up prepares the same.
if (given.length === 0) {
  if (!process.env.TEMPORAL_ADDRESS) await findTemporalCli(log);
  await findTimeSkippingServer(log);
}
// The long reliability tests have a command of their own.
const { exitCode, report } = await runTests(given.length > 0 ? given : ['--project', 'unit', '--project', 'temporal']);
process.exitCode = exitCode;
if (report === undefined) log('vitest wrote no report');
else {
  const failed = failedTests(report);
  // A developer who names tests wants to see their failure at once.
  const mayRunAlone = given.length === 0 || process.env.CI !== undefined;
  const passedAlone = mayRunAlone && failed.length > 0 && failed.length <= MOST_RUN_ALONE && (await passAlone(failed));
  if (passedAlone) process.exitCode = 0;
  for (const test of failed) {
    log(`${passedAlone ? 'passed only alone, which is a finding' : 'failed'}: ${named(test)}`);
  }
  process.stdout.write(`${countsLine(report, passedAlone ? failed.length : 0)}\n`);
}
