import { describe, expect, test } from 'vitest';
import type { BatchPlan } from '../../../src/contract/batch/batch.js';
import { payoutLine } from '../../support/batch-files.js';
import { attemptOf, operations, type RunActivity } from '../activity-lab.fixture.js';
import { CARD, planner } from './batch-lab.fixture.js';

const lines = (count: number): string[] => Array.from({ length: count }, (_, index) => payoutLine(index + 1));

/** Lets the service have an order under the id of that row. */
const pay = (run: RunActivity, row: number) =>
  run('createOrder', attemptOf('withdraw', { order: orderOf(`payroll-2026-11-${row}`) }));

/** Plans rows with these ids where the service has an order under this one. */
async function plannedBeside(existing: string, ids: readonly string[]) {
  const { plan, run, sandbox } = await planner(
    ids.map((id, index) => payoutLine(index + 1).replace(/^[^,]*/, id)),
    {},
  );
  await run('createOrder', attemptOf('withdraw', { order: orderOf(existing) }));
  const before = operations(sandbox).length;
  const planned = await plan();
  return { warnings: shown(planned), operations: operations(sandbox).slice(before) };
}

const orderOf = (order_id: string) => ({ order_id, currency: 'usd', network: 'card', amount: '10', wallet: CARD });

const shown = ({ warnings }: BatchPlan) => warnings.map(({ rows, reason }) => [rows, reason]);

describe('rows whose ids have an order at the service', () => {
  test('are counted and named by their lines, before all other warnings', async () => {
    const repeated = Array.from({ length: 60 }, (_, index) => [`a-${index}`, `b-${index}`]).flatMap(([a, b], index) =>
      [a, b].map((id) => payoutLine(index + 100).replace(/^[^,]*/, `${id}`)),
    );
    const { plan, run } = await planner([...lines(5), ...repeated]);
    await Promise.all([2, 5].map((row) => pay(run, row)));
    const planned = await plan();
    expect(shown(planned)[0]).toEqual([[3, 6], expect.stringMatching(/^2 of 125 rows have an order at the service/)]);
    expect([planned.warnings.length, planned.warningCount]).toEqual([50, 61]);
  });

  test('change the digest, which approves what was shown', async () => {
    const { plan, run } = await planner(lines(2));
    const { digest } = await plan({ batchId: 'x' });
    await pay(run, 1);
    const later = await plan({ batchId: 'x' });
    expect(later.digest).not.toBe(digest);
    expect((await plan({ batchId: 'x' })).digest).toBe(later.digest);
  });

  test('are asked for a thousand at a time', async () => {
    const { plan, run, sandbox } = await planner(lines(2_500));
    await Promise.all([1, 1_000, 1_001, 2_500].map((row) => pay(run, row)));
    const before = operations(sandbox).length;
    expect(shown(await plan())).toEqual([[[2, 1_001, 1_002, 2_501], expect.stringMatching(/^4 of 2500 rows/)]]);
    // Where a page shows orders, another request shows that none follow.
    expect(operations(sandbox).slice(before)).toEqual([...Array(8).fill('list'), 'balances']);
  });

  test.for([1, 5, 10])('are all counted if the service shows %i orders on a page', async (listAtMost) => {
    const { plan, run, sandbox } = await planner(lines(14));
    for (let row = 1; row <= 12; row += 1) await pay(run, row);
    sandbox.set({ listAtMost });
    expect(shown(await plan())[0]).toEqual([expect.any(Array), expect.stringMatching(/^12 of 14 rows/)]);
  });

  test('are not asked for where a bad row refuses the file', async () => {
    const { plan, sandbox } = await planner([...lines(3), 'bad']);
    await expect(plan()).rejects.toMatchObject({ type: 'InvalidInput' });
    expect(operations(sandbox)).toEqual([]);
  });
});

describe('rows whose ids look like that of an order at the service', () => {
  test.for<[what: string, existing: string, ids: string[]]>([
    ['the .0 of a spreadsheet', '1001.0', ['1002', '1001']],
    ['lower case', 'inv-ab-1', ['x', 'INV-Ab-1']],
    ['upper case', 'INV-AB-1', ['x', 'inv-ab-1']],
    ['zeros that the file lost', '0007', ['1000', '7']],
    ['zeros that the file has', 'inv-7', ['x', 'inv-007']],
  ])('are warned of: %s', async ([, existing, ids]) => {
    const { warnings, operations: asked } = await plannedBeside(existing, ids);
    expect(warnings).toEqual([[[3], expect.stringMatching(/^1 of 2 rows have an id that differs only by case/)]]);
    expect(asked).toEqual(['list', 'list', 'balances']);
  });

  test.for<[what: string, existing: string, id: string]>([
    ['a day', 'DEC-1', '1-Dec'],
    ['a day without a dash', 'MAR26', '26-Mar'],
    ['a month of a year', 'MAR26', 'Mar-26'],
    ['a long name', 'MARCH1', '1-Mar'],
    ['numbers', '5458-3-5', '05-03-5458'],
    ['numbers in the other order', '7-12', '12-Jul'],
    ['a date with its year', '2026-12-1', '01.12.2026'],
    ['another language', 'GEN-7', '07-gen'],
    ['a time', '2:30', '02:30:00'],
    ['an exponent', '73928e05', '7392800000'],
    ['an exponent in capitals', '12E3', '12000'],
    ['digits beyond 15', '1234567890123456789', '1234567890123450000'],
  ])('are warned of: a spreadsheet read %s', async ([, existing, id]) => {
    // What was paid may have been the id of the source or that of the spreadsheet.
    for (const [paid, planned] of [
      [existing, id],
      [id, existing],
    ] as const) {
      if (paid === '1234567890123456789') continue;
      const { warnings } = await plannedBeside(paid, ['x', planned]);
      expect(warnings[0]).toEqual([[3], expect.stringMatching(/^1 of 2 rows have an id that differs only by case/)]);
    }
  });

  test('are not so by another date, or another number', async () => {
    const { warnings } = await plannedBeside('DEC-1', ['2-Dec', '1-Nov', 'DEC-3']);
    expect(warnings.map(([rows]) => rows)).toEqual([[2, 3]]);
    expect((await plannedBeside('73928e05', ['739280000', 'v73928e05'])).warnings.map(([rows]) => rows)).toEqual([[2]]);
  });

  test('are not so by another number', async () => {
    expect((await plannedBeside('1001.0', ['10010', '100'])).warnings).toEqual([]);
  });

  test('are not so where that order is of another row of the file', async () => {
    const { warnings } = await plannedBeside('inv-1', ['inv-1', 'INV-1']);
    expect(warnings).toEqual([
      [[2], expect.stringMatching(/^1 of 2 rows have an order at the service/)],
      [[2, 3], expect.stringMatching(/^these ids differ only by case/)],
    ]);
  });
});

describe('an order list that is not to be had', () => {
  test('is one warning, after three requests and not one more; the plan is made', async () => {
    const { plan, sandbox } = await planner(lines(2_500), { settings: { faults: { 'list.503': 1 } } });
    const planned = await plan();
    expect(planned).toMatchObject({ rows: 2_500, warningCount: 1 });
    expect(shown(planned)).toEqual([
      [
        [],
        'the order list was not to be had (HTTP 503): whether rows have an order already was not checked from line 2 on',
      ],
    ]);
    expect(operations(sandbox)).toEqual(['list', 'list', 'list', 'balances']);
  });

  test('proves nothing when it shows orders of other ids', async () => {
    const { plan, run } = await planner(lines(3), { settings: { faults: { 'list.ignore-filter': 1 } } });
    await run('createOrder', attemptOf('withdraw', { order: orderOf('another') })).catch(() => undefined);
    const [[, reason] = []] = shown(await plan());
    expect(reason).toMatch(/list shows orders of other ids.*was not checked from line 2 on/);
  });

  test('says from which line on it was not checked', async () => {
    const { plan, run, sandbox } = await planner(lines(1_500));
    await pay(run, 1);
    const onHeartbeat = (details: unknown) => {
      const { askedFromLine } = details as { askedFromLine?: number };
      if (askedFromLine === 1_002) sandbox.set({ faults: { 'list.400': 1 } });
    };
    expect(shown(await plan({}, { onHeartbeat }))).toEqual([
      [[2], expect.stringMatching(/^1 of 1500 rows/)],
      [[], expect.stringMatching(/HTTP 400.*from line 1002 on/)],
    ]);
  });
});
