import { describe, expect, test } from 'vitest';
import { beyondPlan, countTaken } from '../../../src/activities/batch/rows/count.js';
import type { BatchRow } from '../../../src/batch-files/source.js';
import type { BatchProgress } from '../../../src/contract/batch/batch.js';

const PLAN = { sha256: 'f'.repeat(64), orders: 'f'.repeat(64), rows: 4, totals: { usd: '0.3', eur: '10' } };

const rowsOf = (...orders: unknown[]): BatchRow[] =>
  orders.map((order, index) => ({ row: index + 1, line: index + 1, text: '', order }));
const usd = (amount: unknown) => ({ currency: 'usd', amount });

/** What a batch has taken that has not come further than these rows. */
function behind(...orders: unknown[]) {
  const progress = { taken: 0 } as BatchProgress;
  countTaken(progress, rowsOf(...orders));
  return progress;
}

describe('rows are started under a plan', () => {
  test.for([
    { what: 'that they come up to', next: [usd('0.1'), usd('0.2')] },
    { what: 'that they come up to with those before them', taken: [usd('0.1')], next: [usd('0.20')] },
    { what: 'in several currencies', taken: [usd('0.3')], next: [{ currency: 'eur', amount: '10.00' }] },
    { what: 'though one cannot be read, of which no order comes', next: [undefined, null, usd('1e9'), usd(7)] },
  ])('$what', ({ taken = [], next }) => {
    expect(beyondPlan(PLAN, behind(...taken), rowsOf(...next))).toBeUndefined();
  });
});

describe('rows are not started beyond a plan', () => {
  test.for([
    {
      what: 'by one cent',
      next: [usd('0.1'), usd('0.21')],
      why: /^rows 1 to 2 would make 0.31 usd, the plan has 0.3;/,
    },
    {
      what: 'with those before them, whoever was paid by these',
      taken: [usd('0.3')],
      next: [usd('0.000000000000000001')],
      why: /^rows 2 to 2 would make 0.300000000000000001 usd/,
    },
    {
      what: 'in a currency that it has not',
      next: [{ currency: 'btc', amount: '0.1' }],
      why: /0.1 btc, the plan has 0;/,
    },
    {
      what: 'by a row',
      taken: [usd('0'), usd('0')],
      next: [usd('0'), usd('0'), usd('0')],
      why: /5 rows, the plan has 4;/,
    },
    { what: 'when none is left of it', taken: [usd('0')], next: [], why: /end after 1 of 4;/ },
  ])('$what', ({ taken = [], next, why }) => {
    expect(beyondPlan(PLAN, behind(...taken), rowsOf(...next))).toMatch(why);
  });
});
