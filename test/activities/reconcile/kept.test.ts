import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  addMalformed,
  addRows,
  type Kept,
  MAX_ROWS,
  nothingYet,
  packed,
  unpacked,
} from '../../../src/activities/reconcile/kept.js';
import { SeenIds } from '../../../src/activities/reconcile/seen-ids.js';
import type { Finding, ReconcileClass } from '../../../src/contract/reconcile/reconcile.js';

const begun = (): Kept => nothingYet({ atMs: 1, nextMs: 2, carried: [] });

const rowsOf = (name: ReconcileClass, count: number): Finding[] =>
  Array.from({ length: count }, (_, n) => ({ class: name, order_id: `${name}-${n}` }));

describe('what a reconciliation keeps', () => {
  test('is the same for the attempt after a killed one', () => {
    const kept = begun();
    addRows(kept, [...rowsOf('duplicate', 2), ...rowsOf('equal', 3)]);
    expect(unpacked(packed(kept))).toEqual(kept);
  });

  test('is not taken over from another version of the code, nor from anything else', () => {
    const other = deflateRawSync(JSON.stringify({ ...begun(), version: 0 })).toString('base64');
    expect([other, 'nonsense', undefined, { seen: 3 }].map(unpacked)).toEqual(Array(4).fill(undefined));
  });

  test('is left out of a heartbeat that it would make too large', () => {
    const noise = randomBytes(1_200_000).toString('base64');
    expect(packed({ ...begun(), notes: [noise] })).toBeUndefined();
  });

  test('counts every row, and of too many holds the gravest, however late they come', () => {
    const kept = begun();
    addRows(kept, rowsOf('foreign', MAX_ROWS));
    addRows(kept, [...rowsOf('receiptFollowed', 5), ...rowsOf('duplicate', 1), ...rowsOf('open', 7)]);
    expect(kept.classes).toMatchObject({ foreign: MAX_ROWS, receiptFollowed: 5, duplicate: 1, open: 7 });
    expect([kept.rowCount, kept.rows.length]).toEqual([MAX_ROWS + 6, MAX_ROWS]);
    expect(kept.rows[0]?.class).toBe('duplicate');
    expect(kept.rows.at(-1)?.class).toBe('foreign');
  });

  test('counts all that cannot be read, and holds the first of it', () => {
    const kept = begun();
    for (let n = 0; n < 700; n += 1) addMalformed(kept, [{ place: `${n}`, reason: 'unreadable' }]);
    expect([kept.malformedCount, kept.malformed.length, kept.malformed[0]?.place]).toEqual([700, 500, '0']);
  });

  test('fits a heartbeat with all the rows that are held', () => {
    const kept = begun();
    const rows = rowsOf('amountDiffers', MAX_ROWS).map((row) => ({
      ...row,
      order_uuid: randomBytes(16).toString('hex'),
      detail: `amount_to ${Math.random()} at the service, ${Math.random()} here`,
    }));
    addRows(kept, rows);
    expect(packed(kept)?.length).toBeLessThan(400_000);
  });
});

test('of 50,000 ids each is known again, and no other', () => {
  const ids = new SeenIds();
  for (let n = 0; n < 50_000; n += 1) ids.add(`order-${n}`);
  const known = (prefix: string) => Array.from({ length: 50_000 }, (_, n) => ids.has(`${prefix}-${n}`));
  expect(known('order').every(Boolean)).toBe(true);
  expect(known('other').some(Boolean)).toBe(false);
});
