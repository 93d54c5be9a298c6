import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { fieldsOfFailure } from '../../../src/client/remote-run.js';
import type { BatchInput } from '../../../src/contract/batch/batch.js';
import { cardNumber, folderWith, PAYOUT_HEADER, payoutLine, writePayouts } from '../../support/batch-files.js';
import { failureOf, openActivities, operations } from '../activity-lab.fixture.js';
import { CARD, planner, ROW } from './batch-lab.fixture.js';

describe('a bad row refuses the whole file', () => {
  test.for<[what: string, line: string, field: string, reason: RegExp]>([
    ['a bad check digit', 'x,usd,card,10,4111111111111112', 'order.wallet', /\*\*\*\*1112: .*check digit/],
    ['an amount of 0', `x,usd,card,0,${CARD}`, 'order.amount', /> 0/],
    ['an amount below the minimum', `x,usd,card,0.5,${CARD}`, 'order.amount', /below min_amount_from/],
    ['too many decimals', `x,usd,card,10.505,${CARD}`, 'order.amount', /3 decimals, usd allows 2/],
    ['a pair that is not offered', `x,usd,tron,10,TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC`, 'order.network', /not offered/],
    ['an empty id', `,usd,card,10,${CARD}`, 'order.order_id', /required/],
    ['a wallet in the id', `pay-${CARD},usd,card,10,${CARD}`, 'order.order_id', /contains the order's own wallet/],
    ['an id of a follow-up', `x.r1,usd,card,10,${CARD}`, 'order.order_id', /follow-ups/],
    ['a rounded number', 'x,usd,card,10,4.11111E+15', 'order.wallet', /spreadsheet/],
    ['a cell too many', `x,usd,card,10,${CARD},y`, 'row', /6 cells/],
  ])('%s', async ([, line, field, reason]) => {
    const { plan, sandbox } = await planner([payoutLine(1), line, payoutLine(2)]);
    const failure = await failureOf(plan({ batchId: 'b' }));
    expect(failure).toMatchObject({
      type: 'InvalidInput',
      nonRetryable: true,
      details: [
        [
          { field: 'rows', reason: expect.stringMatching(/^1 of 3 are bad, so nothing was sent/) },
          { field: `line 3: ${field}`, reason: expect.stringMatching(reason) },
        ],
      ],
    });
    expect(operations(sandbox)).toEqual([]);
    expect(JSON.stringify(failure)).not.toContain(CARD);
  });

  test('every bad field of a row is named at once', async () => {
    const { plan } = await planner(['x y,USD,card,"12,50",123']);
    const failure = await failureOf(plan());
    expect(
      fieldsOfFailure(failure)
        .map(({ field }) => field)
        .sort(),
    ).toEqual([
      'line 2: order.amount',
      'line 2: order.currency',
      'line 2: order.order_id',
      'line 2: order.wallet',
      'rows',
    ]);
  });

  test.for(['10', '11'])('an id that stands there twice is named with both lines: amount %s', async (amount) => {
    const second = `a,usd,card,${amount},${CARD}`;
    const { plan } = await planner([payoutLine(1), `a,usd,card,10,${CARD}`, payoutLine(2), second]);
    const failure = await failureOf(plan());
    expect(failure.message).toContain('line 5: order.order_id: lines 3 and 5 have the same id');
  });

  test('1 in 10,000 is found, and written down', async () => {
    const { plan, batchDir, reportDir } = await planner([]);
    const bad = (row: number) => (row === 5_678 ? `r-5678,usd,card,10,${CARD}5` : payoutLine(row));
    await writePayouts(join(batchDir, 'rows.csv'), 10_000, bad);
    const failure = await failureOf(plan({ batchId: 'payroll' }));
    expect(failure.message).toMatch(
      /1 of 10000 are bad.*default\.payroll\.[0-9a-f]{8}\.errors\.csv.*line 5679: order\.wallet/,
    );
    const [name = '', ...others] = readdirSync(reportDir);
    expect([name, ...others]).toEqual([expect.stringMatching(/^default\.payroll\.[0-9a-f]{8}\.errors\.csv$/)]);
    expect(parse(readFileSync(join(reportDir, name)), { columns: true })).toEqual([
      { line: '5679', field: 'order.wallet', reason: expect.stringContaining('check digit') },
    ]);
  });

  test('one currency more than 50 is named, and each of its rows', async () => {
    const line = (row: number, currency: number) => `r-${row},c${currency},card,10,${cardNumber(row)}`;
    const lines = Array.from({ length: 50 }, (_, index) => line(index, index));
    // Without rates any currency may be offered.
    const { plan, batchDir } = await planner([...lines, line(50, 0)], { settings: { faults: { 'rates.503': 1 } } });
    expect((await plan()).currencies).toHaveLength(50);
    const more = [...lines, line(50, 50), line(51, 49), line(52, 50)];
    writeFileSync(join(batchDir, 'rows.csv'), [PAYOUT_HEADER, ...more, ''].join('\n'));
    const [summary, ...rows] = fieldsOfFailure(await failureOf(plan()));
    expect(summary?.reason).toMatch(/^2 of 53 are bad/);
    const reason = expect.stringMatching(/^c50 is one currency too many: a batch has at most 50/);
    expect(rows).toEqual([52, 54].map((number) => ({ field: `line ${number}: order.currency`, reason })));
  });

  test('thousands are all written down, while the failure stays small', async () => {
    const lines = Array.from({ length: 3_000 }, (_, index) => `${'x '.repeat(60)}${index},USD,CARD,-1,${CARD}${index}`);
    const { plan, reportDir } = await planner(lines);
    const failure = await failureOf(plan({ batchId: 'b' }));
    expect(failure.message.length).toBeLessThanOrEqual(1_000);
    expect(Buffer.byteLength(JSON.stringify(failure.details))).toBeLessThan(50_000);
    const text = readFileSync(join(reportDir, ...readdirSync(reportDir)), 'utf8');
    const written: { line: string }[] = parse(text, { columns: true });
    expect(new Set(written.map(({ line }) => line)).size).toBe(3_000);
    expect(text).not.toContain(CARD);
  });

  test('without a folder for reports is refused all the same', async () => {
    const batchDir = folderWith('rows.csv', `${PAYOUT_HEADER}\nx,usd,card,0,${CARD}\n`);
    const { run } = await openActivities({}, { directories: { batchDir } });
    const input = { file: { path: 'rows.csv' }, startedBy: 'ann' };
    expect((await failureOf(run('planBatch', { account: 'default', input }))).message).toContain('1 of 1 are bad');
  });
});

describe('what is no batch', () => {
  test.for<[what: string, input: Partial<BatchInput>, field: string]>([
    ['a path outside', { file: { path: '../rows.csv' } }, 'file.path'],
    ['a batch id with a slash', { batchId: '../x' }, 'batchId'],
    ['file and rows', { rows: [ROW] }, 'file'],
    ['an unknown field', { speed: 1 } as Partial<BatchInput>, 'speed'],
  ])('%s fails for good as InvalidInput', async ([, input, field]) => {
    const { plan } = await planner([payoutLine(1)]);
    expect(await failureOf(plan(input))).toMatchObject({
      type: 'InvalidInput',
      nonRetryable: true,
      details: [[{ field }]],
    });
  });

  test.for<[what: string, file: BatchInput['file']]>([
    ['a file that is not there', { path: 'other.csv' }],
    ['a file with another hash', { path: 'rows.csv', sha256: '0'.repeat(64) }],
  ])('%s fails for good as BatchFileUnusable', async ([, file]) => {
    const { plan } = await planner([payoutLine(1)]);
    expect(await failureOf(plan({ file }))).toMatchObject({ type: 'BatchFileUnusable', nonRetryable: true });
  });
});
