/** One test of the report. A test that passed at its second attempt still has the failure of its first. */
type TestOutcome = { fullName: string; status: string; failureMessages: string[] };

/** The parts of vitest's JSON report that are counted. */
export type TestReport = {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: { status: string; assertionResults: TestOutcome[] }[];
};

/** 'N passed, N failed', with ', N skipped' when there are any. A file that could not be loaded counts as one failed test. */
export function countsLine(report: TestReport): string {
  const unloaded = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  );
  const skipped = report.numPendingTests + report.numTodoTests;
  const line = `${report.numPassedTests} passed, ${report.numFailedTests + unloaded.length} failed`;
  return skipped === 0 ? line : `${line}, ${skipped} skipped`;
}

/** Tests that passed only when they were run again, each with the first line of what failed before. */
export const retriedTests = (report: TestReport): string[] =>
  report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status, failureMessages }) => status === 'passed' && failureMessages.length > 0)
    .map(({ fullName, failureMessages: [first = ''] }) => `${fullName}: ${first.split('\n', 1)}`);
