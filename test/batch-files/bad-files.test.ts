import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BatchFileError } from '../../src/batch-files/read-file.js';
import { readBatchSource } from '../../src/batch-files/source.js';
import { newFolder, PAYOUT_HEADER, payoutLine } from '../support/batch-files.js';
import { read } from './files.fixture.js';

const problemOf = (answer: Promise<unknown>): Promise<BatchFileError> =>
  answer.then(
    () => {
      throw new Error('the file was read');
    },
    (error: unknown) => {
      if (error instanceof BatchFileError) return error;
      throw error;
    },
  );

describe('a file that is no batch is refused as a whole', () => {
  test.for<[what: string, content: string | Uint8Array, problem: RegExp]>([
    ['an empty file', '', /the file is empty/],
    ['a header and nothing else', `${PAYOUT_HEADER}\n`, /has no rows/],
    ['a header and empty lines', `${PAYOUT_HEADER}\r\n\r\n\r\n`, /has no rows/],
    ['semicolons', `${PAYOUT_HEADER.replaceAll(',', ';')}\na;usd;card;1;x\n`, /separated by ";".*commas/],
    ['tabs', `${PAYOUT_HEADER.replaceAll(',', '\t')}\na\tusd\tcard\t1\tx\n`, /separated by tabs/],
    ['a "sep=" line', `sep=,\n${PAYOUT_HEADER}\n`, /"sep=" line/],
    [
      'no header',
      'Erika,usd,card,1,x\n',
      /^line 1: is no header: it must name the columns order_id, currency, network/,
    ],
    ['a missing column', 'order_id,currency,network,wallet\na,usd,card,x\n', /column amount is missing/],
    ['a column twice', `${PAYOUT_HEADER},amount\na,usd,card,1,x,2\n`, /column amount stands there twice/],
    ['an unknown column', `${PAYOUT_HEADER},colour\na,usd,card,1,x,red\n`, /unknown column colour/],
    ['a callback URL', `${PAYOUT_HEADER},callback_url\na,usd,card,1,x,y\n`, /the worker makes the callback URL/],
    ['details in two ways', `${PAYOUT_HEADER},wallet_details,wallet_details.bank_code\n`, /choose one/],
    ['a quote in the header that is not closed', `order_id,"currency\n`, /line 1: .*quote/],
    ['UTF-16 of the other order', Buffer.from(`${PAYOUT_HEADER}\n`, 'utf16le').swap16(), /is UTF-16/],
    ['an old workbook', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /Excel workbook of the old format/],
    ['a compressed file', Buffer.from('1f8b0800', 'hex'), /gzip/],
    ['a PDF', '%PDF-1.7\n', /PDF/],
    ['XML of a spreadsheet', '<?xml version="1.0"?>\n<Workbook>\n', /HTML or XML/],
    ['JSON', '[{"order_id":"a"}]', /is JSON.*\.ndjson/],
    ['NUL bytes', Buffer.alloc(4_096), /NUL bytes.*export it again/],
    [
      'a header in Windows-1251',
      Buffer.from('c7e0eff0,x\n', 'latin1').fill(0xc7, 0, 4),
      /line 1: is not UTF-8.*Windows/,
    ],
    ['a hyphen in a name', `${PAYOUT_HEADER.replace('order_id', 'Order-ID')}\n`, /Order-ID must be written order_id/],
    ['a blank in a name', `${PAYOUT_HEADER.replace('order_id', 'order id')}\n`, /order id must be written order_id/],
    ['a word of another script', `${PAYOUT_HEADER},валюта\n`, /unknown column валюта$/],
    ['a line without end', `${PAYOUT_HEADER}\n${'x'.repeat(70_000)}`, /line is longer/],
  ])('%s', async ([, content, problem]) => {
    const error = await problemOf(read(content));
    expect(error.failureType).toBe('InvalidInput');
    expect(error.problem).toMatch(problem);
  });

  test('a header that holds a card number instead of a name does not show it', async () => {
    const error = await problemOf(read(`${PAYOUT_HEADER},4111111111111111\n`));
    expect(error.problem).toMatch(/unknown column \*\*\*\*/);
  });

  test.for<[what: string, content: string, problem: RegExp]>([
    ['an object over several lines', '{\n  "order_id": "a"\n}\n', /JSON over several lines/],
    ['CSV', `${PAYOUT_HEADER}\n`, /no NDJSON.*name the file \.csv/],
  ])('%s in an NDJSON file', async ([, content, problem]) => {
    expect((await problemOf(read(content, 'rows.ndjson'))).problem).toMatch(problem);
  });

  test('more than 100,000 rows, empty ones at the end not counted', async () => {
    const rows = await read(`${PAYOUT_HEADER}\n${payoutLine(1)}\n${',,,,\n'.repeat(100_001)}`);
    expect(rows).toHaveLength(1);
    const error = await problemOf(read(`${PAYOUT_HEADER}\n${'\n'.repeat(100_000)}${payoutLine(1)}\n`));
    expect(error.problem).toMatch(/more than 100000 rows; split it/);
  });

  test.for(['rows.txt', 'rows.xlsx', 'rows', 'rows.csv.bak'])('%s has no format that is known', async (name) => {
    expect(await problemOf(read('x', name))).toMatchObject({ failureType: 'InvalidInput', field: 'file.path' });
  });
});

describe('a row that cannot be read is named with its line', () => {
  const header = `${PAYOUT_HEADER},description,wallet_details`;
  test.for<[what: string, line: string, field: string, reason: RegExp]>([
    ['a cell too many', 'a,usd,card,1,x,y,,z', 'row', /has 8 cells, the header has 7/],
    ['a quote that is not doubled', 'a,usd,card,1,x,say "hi",', 'row', /quote/],
    ['text behind a quote', 'a,usd,card,1,x,"say"hi,', 'row', /quote/],
    ['details that are no JSON', 'a,usd,card,1,x,,{', 'order.wallet_details', /not JSON at position/],
    [
      'a field named twice in the details',
      'a,usd,card,1,x,,"{""a"":""1"",""a"":""2""}"',
      'order.wallet_details',
      /twice/,
    ],
    ['details nested without end', `a,usd,card,1,x,,${'['.repeat(60_000)}`, 'order.wallet_details', /nested/],
    ['an empty line inside', '', 'row', /is empty/],
    ['a row of commas inside', ',,,,,,', 'row', /is empty/],
    ['a row of empty quotes inside', '"","","","","","",""', 'row', /is empty/],
    ['an end mark', '\x1a', 'row', /Ctrl\+Z/],
  ])('%s', async ([, line, field, reason]) => {
    const rows = await read(`${header}\nok,usd,card,1,x,,\n${line}\nok,usd,card,1,x,,\n`);
    const [problem, ...others] = rows.filter((row) => row.problem);
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ row: 2, line: 3, problem: [{ field, reason: expect.stringMatching(reason) }] });
  });

  test('a line break inside an id is an error of that row, whatever the quotes say', async () => {
    const rows = await read(`${PAYOUT_HEADER}\n"a\nb",usd,card,1,x\n${payoutLine(3)}\n`);
    expect(rows.map(({ line, problem }) => [line, problem !== undefined])).toEqual([
      [2, true],
      [3, true],
      [4, false],
    ]);
    expect(rows[0]?.problem?.[0]?.reason).toMatch(/must not contain a line break/);
  });

  test.for<[line: string, field: string, reason: RegExp]>([
    ['{"amount": 12.50}', 'order.amount', /strings/],
    ['{"wallet_details": [{"amount": 1}]}', 'order.wallet_details[0].amount', /strings/],
    ['{"order_id": "a", "order_id": "b"}', 'order', /names the field order_id twice with different values at position/],
    ['{"order_id": "a"', 'order', /not JSON/],
    ['{"order_id": "a"} {}', 'order', /not JSON/],
    ["{'order_id': 'a'}", 'order', /not JSON/],
    ['[]', 'row', /one JSON object/],
    ['null', 'row', /one JSON object/],
    ['"text"', 'row', /one JSON object/],
    [`{"a":${'['.repeat(60_000)}`, 'order', /nested/],
  ])('NDJSON %s', async ([line, field, reason]) => {
    const rows = await read(`{"order_id":"ok"}\n${line}\n`, 'rows.ndjson');
    expect(rows[1]).toMatchObject({ line: 2, problem: [{ field, reason: expect.stringMatching(reason) }] });
  });

  test('no reason shows a cell', async () => {
    const secret = '4111111111111111';
    const lines = [`${secret}`, `"${secret}`, `a,usd,card,1,"x"${secret}`, `a,usd,card,${secret},x,{"${secret}"`];
    const rows = await read(`${PAYOUT_HEADER}\n${lines.join('\n')}\n`);
    const json = await read(lines.map((line) => `{"${secret}: ${line}`).join('\n'), 'rows.ndjson');
    expect([...rows, ...json].filter((row) => row.problem)).toHaveLength(2 * lines.length);
    expect(JSON.stringify([...rows, ...json].map((row) => row.problem))).not.toContain(secret);
  });
});

test('nothing below REPORT_DIR is a batch file', async () => {
  const batchDir = newFolder();
  const reportDir = join(batchDir, 'reports');
  mkdirSync(join(reportDir, 'old'), { recursive: true });
  const read = (path: string) => {
    writeFileSync(join(batchDir, path), `${PAYOUT_HEADER}\n${payoutLine(1)}\n`);
    return readBatchSource({ batchDir, reportDir }, { file: { path } });
  };
  for (const path of ['reports/b-1.rejected.csv', 'reports/old/b-1.rejected.csv']) {
    expect(await problemOf(read(path))).toMatchObject({
      failureType: 'InvalidInput',
      field: 'file.path',
      problem: expect.stringMatching(/^is a report: .*nothing was sent/),
    });
  }
  for (const path of ['reports.csv', 'reports-b.csv']) expect([...(await read(path)).rows()]).toHaveLength(1);
});
