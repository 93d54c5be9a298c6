import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { filledPage } from '../../bench/report/page.js';
import { readReports } from '../../bench/report.js';
import { markdown, type Row, ratio, shown, type Table } from '../../bench/table.js';

const floor: Row = { name: 'floor', rounds: [{ rate: 10 }, { rate: 20 }, { rate: 30 }] };
const ours: Row = { name: 'ours', against: 'floor', rounds: [{ rate: 10 }, { rate: 18 }, { rate: 15 }] };
const table: Table = {
  id: 'orders',
  title: '3 orders',
  figures: [
    { id: 'rate', title: 'orders/s', drawn: true },
    { id: 'lost', title: 'lost', unit: 'ms' },
  ],
  rows: [floor, ours],
  notes: ['a note'],
};

test('a ratio is the middle of the ratios of each round, not that of the middles', () => {
  expect(ratio(ours, floor, { id: 'rate' })).toBe(0.9);
  expect(ratio(ours, floor, { id: 'lost' })).toBeUndefined();
});

test('a table shows medians, ratios to the row that is named, the spread, and – for what was not measured', () => {
  expect(markdown(table).split('\n')).toEqual([
    '| 3 orders | ratios to | orders/s | lost, ms |',
    '|---|---|---|---|',
    '| floor |  | 20.0 [10.0–30.0] | – |',
    '| ours | floor | 15.0 (**0.90 ×**) [10.0–18.0] | – |',
    '',
    '- a note',
  ]);
});

test('figures are shown without exponents and with three digits that count', () => {
  expect([1_234.5, 99.96, 12.34, 1.234, 0.02, Number.NaN].map(shown)).toEqual([
    ...['1235', '100.0', '12.3', '1.23', '0.02', '–'],
  ]);
});

const report = { runs: [{ facts: { commit: 'abc' }, tables: [table] }] };

test('a page gets each table between its markers and keeps all else, however often it is filled', () => {
  const page = 'before\n<!-- bench orders -->\nold\n<!-- end -->\nafter\n<!-- bench other -->\nkept\n<!-- end -->\n';
  const once = filledPage(page, report, 'performance');
  expect(once).toContain('![3 orders](performance/orders.svg)');
  expect(once).toContain(markdown(table));
  expect(once).not.toContain('old');
  expect(once).toMatch(/^before\n[\s\S]*after\n<!-- bench other -->\nkept\n<!-- end -->\n$/);
  expect(filledPage(once, report, 'performance')).toBe(once);
});

test('a table without a place in the page is refused', () => {
  expect(() => filledPage('nothing', report)).toThrow('<!-- bench orders -->');
});

test('of a table that several files have, the last one holds', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-report-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const other = { ...table, id: 'other' };
  const files = [join(folder, 'a.json'), join(folder, 'b.json')];
  await writeFile(files[0] ?? '', JSON.stringify({ runs: [{ facts: { commit: 'a' }, tables: [table, other] }] }));
  await writeFile(files[1] ?? '', JSON.stringify({ runs: [{ facts: { commit: 'b' }, tables: [table] }] }));
  const { runs } = await readReports(files);
  expect(runs.map(({ facts, tables }) => [facts.commit, ...tables.map(({ id }) => id)])).toEqual([
    ['a', 'other'],
    ['b', 'orders'],
  ]);
});
