/** The parts of the JSON report of `test-report.ts` that are counted. */
export type TestReport = {
  numPassedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: {
    /** The file's path. */
    name: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
  otherErrors: OtherError[];
};

/** An error outside of all tests: unhandled, of a file that cannot be loaded, or of a set-up or tear-down. */
export type OtherError = { file: string; reason: string };

/** A test that failed, with the first line of its failure. */
export type FailedTest = { file: string; fullName: string; reason: string };

/** The tests that failed. */
export const failedTests = (report: TestReport): FailedTest[] =>
  report.testResults.flatMap(({ name: file, assertionResults }) =>
    assertionResults
      .filter((test) => test.status === 'failed')
      .map(({ fullName, failureMessages: [first = ''] }) => ({ file, fullName, reason: `${first.split('\n', 1)}` })),
  );

/** Whether the report shows that a test ran and passed. */
export function hasPassed({ testResults }: TestReport, { file, fullName }: FailedTest): boolean {
  const found = testResults
    .filter(({ name }) => name === file)
    .flatMap(({ assertionResults }) => assertionResults.filter((test) => test.fullName === fullName));
  return found.length > 0 && found.every(({ status }) => status === 'passed');
}

/**
 * 'N passed, N failed', with ', N skipped' when there are any. An error outside of all tests counts as failed; tests that
 * `passedAlone` afterwards count as passed.
 */
export function countsLine(report: TestReport, passedAlone = 0): string {
  const skipped = report.numPendingTests + report.numTodoTests;
  const failed = failedTests(report).length + report.otherErrors.length - passedAlone;
  const line = `${report.numPassedTests + passedAlone} passed, ${failed} failed`;
  return skipped === 0 ? line : `${line}, ${skipped} skipped`;
}
