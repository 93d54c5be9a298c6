import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { read } from './files.fixture.js';

/** Any text that fits into one line, quotes, commas and line separators of other kinds included. */
const text = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.string({
      unit: fc.constantFrom('"', ',', ' ', 'a', 'é', '€', '😀', '\u2028', '\t', ';', "'", '='),
      maxLength: 12,
    }),
  )
  // Lines with NUL or Ctrl+Z are refused.
  .filter((value) => !['\r', '\n', '\0', '\x1a'].some((character) => value.includes(character)));

const COLUMNS = {
  order_id: fc.stringMatching(/^[a-z][a-z-]{0,9}$/),
  currency: fc.constantFrom('usd', 'eur'),
  network: fc.constantFrom('card', 'sepa'),
  amount: fc.stringMatching(/^[1-9]\d{0,3}(\.\d{1,8})?$/),
  wallet: fc.stringMatching(/^[a-z0-9]{1,30}$/),
  description: text,
  'client_info.client_id': text,
  'client_info.client_email': text,
  'wallet_details.recipient_name': text,
} as const;

type Row = { [C in keyof typeof COLUMNS]: string };

/** What a row's cells stand for: nested, and without empty fields. */
function orderOf(row: Row): Record<string, unknown> {
  const order: Record<string, unknown> = {};
  for (const [column, cell] of Object.entries(row)) {
    const [outer = '', inner] = column.split('.');
    if (cell === '') continue;
    order[outer] = inner === undefined ? cell : { ...(order[outer] as object | undefined), [inner]: cell };
  }
  return order;
}

test('what a CSV writer writes is read back as it was, in any order of columns, with LF or CRLF', async () => {
  const files = fc.record({
    rows: fc.array(fc.record(COLUMNS), { minLength: 1, maxLength: 20 }),
    columns: fc.shuffledSubarray(Object.keys(COLUMNS), { minLength: Object.keys(COLUMNS).length }),
    record_delimiter: fc.constantFrom('\n', '\r\n'),
    bom: fc.boolean(),
    quoted: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(files, async ({ rows, columns, ...options }) => {
      const content = stringify(rows, { header: true, columns, ...options });
      const found = await read(content);
      expect(found.map(({ order }) => order)).toEqual(rows.map(orderOf));
      expect(found.filter(({ problem }) => problem)).toEqual([]);
    }),
    { numRuns: 200 },
  );
});
