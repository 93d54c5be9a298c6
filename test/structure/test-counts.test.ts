import { expect, test } from 'vitest';
import { countsLine, retriedTests } from '../../scripts/test-counts.js';

const outcome = (status: string, ...failureMessages: string[]) => ({ fullName: 'a fact', status, failureMessages });

const report = { numPassedTests: 3, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] };

test('passed and failed tests are counted', () => {
  expect(countsLine({ ...report, numFailedTests: 2 })).toBe('3 passed, 2 failed');
});

test('skipped and planned tests are counted together', () => {
  expect(countsLine({ ...report, numPendingTests: 1, numTodoTests: 1 })).toBe('3 passed, 0 failed, 2 skipped');
});

test('a test file that cannot be loaded counts as failed', () => {
  const testResults = [
    { status: 'failed', assertionResults: [] },
    { status: 'passed', assertionResults: [outcome('passed')] },
  ];
  expect(countsLine({ ...report, testResults })).toBe('3 passed, 1 failed');
});

test('a test that passed only when it was run again is named with what failed before', () => {
  const assertionResults = [
    outcome('passed'),
    outcome('failed', 'Error: always'),
    outcome('passed', 'Error: once\n  at x'),
  ];
  expect(retriedTests({ ...report, testResults: [{ status: 'failed', assertionResults }] })).toEqual([
    'a fact: Error: once',
  ]);
});
