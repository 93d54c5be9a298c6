import { describe, expect, it, test } from 'vitest';
import { ORDER_TYPES } from '../../../src/contract/order/types.js';
import { FINAL_STATUSES } from '../../../src/contract/service-objects.js';
import { type Figures, figures } from '../../../src/workflows/compensation/figures.js';
import * as moves from '../../../src/workflows/compensation/moves.js';
import { COMPENSATION_TABLE, moveByPolicy, type Row, rowOf } from '../../../src/workflows/compensation/table.js';
import { caseOf } from './cases.fixture.js';
import { DEPOSIT, EXPECTED, NOT_DOCUMENTED } from './table-cases.fixture.js';

/** Moves by name, as the expectations below write them. */
const NAMES = new Map(Object.entries(moves).map(([name, move]) => [move as unknown, name]));

/** Each way in words: what a policy ends as, or what it does by itself and what is left to decisions. */
function written(row: Row): { finish: string; revert: string; byDefault: string } {
  const wayOf = (way: Row['finish']): string => {
    if (row.nothingLeft) return 'none';
    if (typeof way === 'string') return way;
    const byPolicy = way.byPolicy ? [`auto ${NAMES.get(way.byPolicy)}`] : [];
    return [...byPolicy, ...way.byDecision.map((move) => `decide ${NAMES.get(move)}`)].join(', ');
  };
  return { finish: wayOf(row.finish), revert: wayOf(row.revert), byDefault: row.byDefault };
}

describe('the compensation table', () => {
  test.for(EXPECTED)(
    '$type $status with $what left: $name',
    ({ type, status, name, finish, revert, byDefault, ...facts }) => {
      const c = caseOf(type, status, facts);
      const row = rowOf(c, figures(c));
      expect({ name: row.name, ...written(row) }).toEqual({ name, finish, revert, byDefault });
    },
  );

  it('has no row that these examples leave out', () => {
    expect(new Set(EXPECTED.map(({ name }) => name))).toEqual(new Set(COMPENSATION_TABLE.map(({ name }) => name)));
  });

  it('raises attention for undocumented cancellations alone, and has no figure for deposits alone', () => {
    expect(COMPENSATION_TABLE.filter((row) => row.attention).map((row) => row.name)).toEqual([NOT_DOCUMENTED]);
    expect(COMPENSATION_TABLE.filter((row) => row.leftUnknown).map((row) => row.name)).toEqual([DEPOSIT]);
  });

  it('lets money move by itself on partial orders only', () => {
    const nothing: Figures = {};
    const rows = ORDER_TYPES.flatMap((type) =>
      [...FINAL_STATUSES, 'on_hold']
        .filter((status) => status !== 'completed_partially')
        .flatMap((status) => [
          rowOf(caseOf(type, status), nothing),
          rowOf(caseOf(type, status, { changes: 'usd -1' }), nothing),
        ]),
    );
    expect(rows.filter((row) => moveByPolicy(row, 'finish') ?? moveByPolicy(row, 'revert'))).toEqual([]);
  });
});
