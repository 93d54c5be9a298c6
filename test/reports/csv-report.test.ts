import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openCsvReport } from '../../src/reports/formats.js';
import { newFolder } from '../support/batch-files.js';

const writeRows = async (rows: { a?: string | number | null; b?: string }[], folder = newFolder()) => {
  const report = await openCsvReport(folder, 'x.report.csv', ['a', 'b']);
  for (const row of rows) await report.add(row);
  const written = await report.finish();
  return { written, text: readFileSync(join(folder, 'x.report.csv'), 'utf8') };
};

describe('a CSV report', () => {
  test('has a header and a line for each row, with empty cells for what is absent', async () => {
    const { text } = await writeRows([{ a: 1, b: 'x' }, { a: null }, { b: 'y, "z"' }]);
    expect(text).toBe('a,b\n1,x\n,\n,"y, ""z"""\n');
  });

  test('without rows has its header', async () => {
    expect((await writeRows([])).text).toBe('a,b\n');
  });

  test('is named with the hash of its bytes', async () => {
    const { written, text } = await writeRows([{ a: 'Päy €' }]);
    expect(written).toEqual({ path: 'x.report.csv', sha256: createHash('sha256').update(text).digest('hex') });
  });

  test.for([
    ['=1+1', "'=1+1"],
    ['+cmd', "'+cmd"],
    ['-cmd', "'-cmd"],
    ['@cmd', "'@cmd"],
    ['\t=1', "'\t=1"],
    ['＝1', "'＝1"],
    [' =1', "' =1"],
    ['\u00A0=1', "'\u00A0=1"],
    ['\u200B=1', "'\u200B=1"],
    ['-0.50', '-0.50'],
    ['-7', '-7'],
    ['12.50', '12.50'],
    ['a=1', 'a=1'],
    ['-1+1', "'-1+1"],
  ])('writes the text %j as %j, which no spreadsheet runs', async ([given, shown]) => {
    expect((await writeRows([{ a: given }])).text).toBe(`a,b\n${shown},\n`);
  });

  test.for(['\n=1+1', '\r\n@cmd', '\n', ' \n+1'])('marks the text %j', async (given) => {
    const { text } = await writeRows([{ a: given }]);
    expect(parse<{ a: string }>(text, { columns: true })[0]?.a).toBe(`'${given}`);
  });

  test('keeps every row in order, however many', async () => {
    const rows = Array.from({ length: 1_001 }, (_, index) => ({ a: index, b: `row ${index}` }));
    const { text } = await writeRows(rows);
    expect(parse(text, { columns: true })).toEqual(rows.map(({ a, b }) => ({ a: String(a), b })));
  });

  test('is read back as it was, formulas apart', async () => {
    const cell = fc.string({ unit: 'binary' });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ a: cell, b: cell }), { minLength: 1 }), async (rows) => {
        const { text } = await writeRows(rows);
        const found = parse<{ a: string; b: string }>(text, { columns: true, relax_column_count: true });
        const bare = (value: string, original: string) => (value === `'${original}` ? original : value);
        const original = found.map(({ a, b }, index) => ({
          a: bare(a, rows[index]?.a ?? ''),
          b: bare(b, rows[index]?.b ?? ''),
        }));
        expect(original).toEqual(rows);
        expect(found.some(({ a, b }) => /^\s*[=+@]/.test(a) || /^\s*[=+@]/.test(b))).toBe(false);
      }),
      // Each run writes a file for good, which takes a disk its time.
      { numRuns: 40 },
    );
  });
});

describe('a report on disk', () => {
  test('is readable by its owner only', async () => {
    const folder = newFolder();
    await writeRows([], folder);
    expect(statSync(join(folder, 'x.report.csv')).mode & 0o777).toBe(0o600);
  });

  test('replaces the one before, which stays whole until then', async () => {
    const folder = newFolder();
    await writeRows([{ a: 'old' }], folder);
    const report = await openCsvReport(folder, 'x.report.csv', ['a']);
    await report.add({ a: 'new' });
    expect(readFileSync(join(folder, 'x.report.csv'), 'utf8')).toBe('a,b\nold,\n');
    await report.finish();
    await report.discard();
    expect(readdirSync(folder)).toEqual(['x.report.csv']);
    expect(readFileSync(join(folder, 'x.report.csv'), 'utf8')).toBe('a\nnew\n');
  });

  test('that is discarded leaves nothing', async () => {
    const folder = newFolder();
    const report = await openCsvReport(folder, 'x.report.csv', ['a']);
    await report.add({ a: 'x' });
    await report.discard();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('written by two at once is that of the last one, whole', async () => {
    const folder = newFolder();
    const reports = await Promise.all([1, 2].map(() => openCsvReport(folder, 'x.report.csv', ['a'])));
    for (const [index, report] of reports.entries()) await report.add({ a: `writer ${index}` });
    for (const report of reports) await report.finish();
    expect(readFileSync(join(folder, 'x.report.csv'), 'utf8')).toBe('a\nwriter 1\n');
    expect(readdirSync(folder)).toEqual(['x.report.csv']);
  });

  test('removes what a worker that died a day ago left of it, and nothing else', async () => {
    const folder = newFolder();
    const twoDaysAgo = Date.now() / 1000 - 2 * 86_400;
    for (const name of ['.x.report.csv.dead.tmp', '.y.report.csv.dead.tmp', 'x.report.csv.bak']) {
      writeFileSync(join(folder, name), 'x');
      utimesSync(join(folder, name), twoDaysAgo, twoDaysAgo);
    }
    writeFileSync(join(folder, '.x.report.csv.alive.tmp'), 'x');
    await writeRows([], folder);
    expect(readdirSync(folder).sort()).toEqual([
      '.x.report.csv.alive.tmp',
      '.y.report.csv.dead.tmp',
      'x.report.csv',
      'x.report.csv.bak',
    ]);
  });
});
