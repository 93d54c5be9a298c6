/** `npm test [-- <vitest arguments>]`: makes sure that the test servers are there, runs vitest, closes with the counts. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { findTemporalCli } from './temporal/find-cli.js';
import { findTimeSkippingServer } from './temporal/time-skipping.js';
import { countsLine, retriedTests, type TestReport } from './test-counts.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const reportFile = join(root, 'test-results', 'results.json');
const given = process.argv.slice(2);
// The long reliability tests have a command of their own.
const vitestArguments = given.length > 0 ? given : ['--project', 'unit', '--project', 'temporal'];
const log = (line: string): void => void process.stderr.write(`${line}\n`);

// With arguments only some tests run, perhaps none that needs a server; the others' set-up prepares the same.
if (given.length === 0) {
  if (!process.env.TEMPORAL_ADDRESS) await findTemporalCli(log);
  await findTimeSkippingServer(log);
}
await rm(reportFile, { force: true });
const { exitCode = 1 } = await execa('vitest', ['run', ...vitestArguments], {
  cwd: root,
  preferLocal: true,
  stdio: 'inherit',
  reject: false,
});
process.exitCode = exitCode;
const report = await readFile(reportFile, 'utf8').catch(() => undefined);
if (report === undefined) log('vitest wrote no report');
else {
  const counted: TestReport = JSON.parse(report);
  for (const test of retriedTests(counted)) log(`passed at the second attempt only, which is a finding: ${test}`);
  process.stdout.write(`${countsLine(counted)}\n`);
}
