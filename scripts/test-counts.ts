/** The parts of vitest's JSON report that are counted. */
export type TestReport = {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: {
    /** The file's path. */
    name: string;
    status: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
};

/** A test that failed, with the first line of its failure. */
export type FailedTest = { file: string; fullName: string; reason: string };

/** The tests that failed; a file that could not be loaded or set up counts as one without a name. */
export const failedTests = (report: TestReport): FailedTest[] =>
  report.testResults.flatMap(({ name: file, status, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (status === 'failed' && failed.length === 0)
      return [{ file, fullName: '', reason: 'not loaded, or not set up' }];
    return failed.map(({ fullName, failureMessages: [first = ''] }) => ({
      file,
      fullName,
      reason: `${first.split('\n', 1)}`,
    }));
  });

/** 'N passed, N failed', with ', N skipped' when there are any; tests that `passedAlone` afterwards count as passed. */
export function countsLine(report: TestReport, passedAlone = 0): string {
  const skipped = report.numPendingTests + report.numTodoTests;
  const failed = failedTests(report).length - passedAlone;
  const line = `${report.numPassedTests + passedAlone} passed, ${failed} failed`;
  return skipped === 0 ? line : `${line}, ${skipped} skipped`;
}
