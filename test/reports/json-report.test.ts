import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openJsonReport } from '../../src/reports/formats.js';
import { newFolder } from '../support/batch-files.js';

const write = async (head: object, rows: object[], tail: object) => {
  const folder = newFolder();
  const report = await openJsonReport(folder, 'x.json', head);
  for (const row of rows) await report.add(row);
  const written = await report.finish(tail);
  return { written, text: readFileSync(join(folder, 'x.json'), 'utf8') };
};

test.for<[head: object, rows: object[], tail: object]>([
  [
    { batchId: 'b "1"' },
    [
      { line: 1, reason: undefined },
      { line: 2, reason: 'a\nb' },
    ],
    { moved: { usd: '1.50' } },
  ],
  [{ batchId: 'b' }, [], { moved: {} }],
  [{}, [], {}],
  [{}, [{ a: 1 }], {}],
  [{ absent: undefined, a: 1 }, [], { absent: undefined, b: 2 }],
])('%j with rows %j and %j is one JSON object', async ([head, rows, tail]) => {
  const { text } = await write(head, rows, tail);
  expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify({ ...head, rows, ...tail })));
});

test('a row stands on a line of its own', async () => {
  const { text } = await write({}, [{ line: 1 }, { line: 2 }], {});
  expect(text.split('\n')).toContain('{"line":2}');
});

test('the report is named with the hash of its bytes', async () => {
  const { written, text } = await write({ a: 'ä' }, [{ b: 1 }], {});
  expect(written).toEqual({ path: 'x.json', sha256: createHash('sha256').update(text).digest('hex') });
});
