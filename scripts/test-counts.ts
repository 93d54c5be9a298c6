/** The parts of vitest's JSON report that are counted. */
export type TestReport = {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: { status: string; assertionResults: unknown[] }[];
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
