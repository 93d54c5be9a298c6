import { expect, test } from 'vitest';
import { countsLine, failedTests, type TestReport } from '../../scripts/test-counts.js';

const outcome = (status: string, ...failureMessages: string[]) => ({ fullName: 'a fact', status, failureMessages });

const report: TestReport = {
  numPassedTests: 3,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: [],
};

const withThreeFailed: TestReport = {
  ...report,
  testResults: [
    {
      name: 'a.test.ts',
      status: 'failed',
      assertionResults: [outcome('passed'), outcome('failed', 'Error: x\n  at y')],
    },
    { name: 'b.test.ts', status: 'failed', assertionResults: [] },
    { name: 'c.test.ts', status: 'failed', assertionResults: [outcome('skipped')] },
  ],
};

test('passed and failed tests are counted; a test file that cannot be loaded or set up counts as failed', () => {
  expect(countsLine(report)).toBe('3 passed, 0 failed');
  expect(countsLine(withThreeFailed)).toBe('3 passed, 3 failed');
});

test('skipped and planned tests are counted together', () => {
  expect(countsLine({ ...report, numPendingTests: 1, numTodoTests: 1 })).toBe('3 passed, 0 failed, 2 skipped');
});

test('what failed is named with its file and the first line of its failure', () => {
  expect(failedTests(withThreeFailed)).toEqual([
    { file: 'a.test.ts', fullName: 'a fact', reason: 'Error: x' },
    { file: 'b.test.ts', fullName: '', reason: 'not loaded, or not set up' },
    { file: 'c.test.ts', fullName: '', reason: 'not loaded, or not set up' },
  ]);
});

test('tests that passed alone afterwards count as passed', () => {
  expect(countsLine(withThreeFailed, 3)).toBe('6 passed, 0 failed');
});
