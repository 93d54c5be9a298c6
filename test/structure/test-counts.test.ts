import { expect, test } from 'vitest';
import { countsLine, failedTests, hasPassed, type TestReport } from '../../scripts/test-counts.js';

const outcome = (status: string, ...failureMessages: string[]) => ({ fullName: 'a fact', status, failureMessages });

const report: TestReport = {
  numPassedTests: 3,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: [],
  otherErrors: [],
};

const withThreeFailed: TestReport = {
  ...report,
  testResults: [
    { name: 'a.test.ts', assertionResults: [outcome('passed'), outcome('failed', 'Error: x\n  at y')] },
    { name: 'b.test.ts', assertionResults: [] },
    { name: 'c.test.ts', assertionResults: [outcome('skipped')] },
    { name: 'd.test.ts', assertionResults: [outcome('passed')] },
  ],
  otherErrors: [
    { file: 'b.test.ts', reason: 'not loaded' },
    { file: '', reason: 'lost' },
  ],
};

test('passed and failed tests are counted; an error outside of all tests counts as failed', () => {
  expect(countsLine(report)).toBe('3 passed, 0 failed');
  expect(countsLine(withThreeFailed)).toBe('3 passed, 3 failed');
});

test('skipped and planned tests are counted together', () => {
  expect(countsLine({ ...report, numPendingTests: 1, numTodoTests: 1 })).toBe('3 passed, 0 failed, 2 skipped');
});

test('a test that failed is named with its file and the first line of its failure', () => {
  expect(failedTests(withThreeFailed)).toEqual([{ file: 'a.test.ts', fullName: 'a fact', reason: 'Error: x' }]);
});

test('a test has passed if each of its name in its file ran and passed', () => {
  const passed = ['a', 'b', 'c', 'd', 'e'].filter((letter) =>
    hasPassed(withThreeFailed, { file: `${letter}.test.ts`, fullName: 'a fact', reason: '' }),
  );
  expect(passed).toEqual(['d']);
});

test('tests that passed alone afterwards count as passed', () => {
  expect(countsLine(withThreeFailed, 1)).toBe('4 passed, 2 failed');
});
