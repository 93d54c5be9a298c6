import { expect, test } from 'vitest';
import { WORKFLOW_TYPES } from '../../src/contract/workflow-types.js';
import { isMeantBy } from '../../src/workflows/unknown-type.js';

/*
 * Workers of the version before refuse a type that is one of theirs in other capitals or separators. During a rollout they would end
 * the workflows of its new type as InvalidOrder, so no two names may be that close.
 */

/** Pairs of names of which a worker that knows one takes the other for it. */
const tooClose = (names: readonly string[]): string[] =>
  names.flatMap((name, index) =>
    names
      .slice(index + 1)
      .filter((other) => isMeantBy(name, other) && isMeantBy(other, name))
      .map((other) => `${name} and ${other}`),
  );

test('no workflow type is taken for a typing error of another one', () => {
  expect(tooClose(WORKFLOW_TYPES)).toEqual([]);
});

test.for(['Withdraw', 'bulk-withdraw'])('%s could not be added', (name) => {
  expect(tooClose([...WORKFLOW_TYPES, name])).toHaveLength(1);
});

test.for(['withdraw2', 'refund', 'withdraws'])('%s could', (name) => {
  expect(tooClose([...WORKFLOW_TYPES, name])).toEqual([]);
});
