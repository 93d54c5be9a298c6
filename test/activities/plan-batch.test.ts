import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CancelledFailure } from '@temporalio/common';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import type { SettingsChange } from '../../sandbox/index.js';
import type { ActivityDeps } from '../../src/activities/index.js';
import { fieldsOfFailure } from '../../src/client/failure-details.js';
import type { BatchInput, BatchPlan } from '../../src/contract/batches.js';
import type { WithdrawRequest } from '../../src/contract/orders.js';
import { cardNumber, folderWith, newFolder, PAYOUT_HEADER, payoutLine, writePayouts } from '../support/batch-files.js';
import { type AttemptInfo, attemptOf, failureOf, openActivities, operations } from './activity-lab.js';

const CARD = '4111111111111111';

/** Plans a file with these lines under the header of payouts. */
async function planner(
  lines: readonly string[],
  {
    settings,
    caps,
    header = PAYOUT_HEADER,
  }: { settings?: SettingsChange; header?: string } & Pick<ActivityDeps, 'caps'> = {},
) {
  const batchDir = folderWith('rows.csv', [header, ...lines, ''].join('\n'));
  const reportDir = newFolder();
  const lab = await openActivities(settings, { directories: { batchDir, reportDir }, caps });
  const plan = (input: Partial<BatchInput> = {}, info?: AttemptInfo): Promise<BatchPlan> => {
    const whole = { file: { path: 'rows.csv' }, startedBy: 'ann', ...input };
    return lab.run('planBatch', { account: 'default', input: whole }, info);
  };
  return { ...lab, batchDir, reportDir, plan };
}

describe('a plan', () => {
  test('adds up rows, totals and commissions by currency, sends nothing, and says what the balance will be', async () => {
    const { plan, sandbox } = await planner(
      [
        `a,usd,card,100,${CARD}`,
        `b,usd,card,10.50,${cardNumber(1)}`,
        `c,eur,sepa,40,DE89370400440532013000`,
        'd,usd,bank,50,account-1',
      ],
      { settings: { balances: { usd: '1000', eur: '30' } } },
    );
    const planned = await plan({ batchId: 'november' });
    expect(planned).toMatchObject({
      account: 'default',
      batchId: 'november',
      rows: 4,
      // usd card: 0.5 + max(1.5 %, 1) on top; usd bank: 0.25 + max(0.2 %, 0.3) out of the amount; eur sepa: 0.35 out of it.
      currencies: [
        {
          currency: 'eur',
          rows: 1,
          total: '40',
          fee: '0.35',
          feeOnTop: '0',
          balanceBefore: '30',
          balanceAfter: '-10',
          shortfall: '10',
        },
        {
          currency: 'usd',
          rows: 3,
          total: '160.5',
          fee: '4.05',
          feeOnTop: '3.5',
          balanceBefore: '1000',
          balanceAfter: '836',
        },
      ],
      warnings: [],
      warningCount: 0,
      compensation: null,
      resend: 'once',
      again: false,
    });
    expect(operations(sandbox)).toEqual(['balances']);
  });

  test('foresees the balance that the service has after the payouts', async () => {
    const lines = [
      `a,usd,card,133.33,${CARD}`,
      `b,usd,bank,77.77,account-1`,
      'c,usdt,tron,12.345678,TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC',
      'd,btc,bitcoin,0.01234567,bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
    ];
    const { plan, run } = await planner(lines);
    const { currencies } = await plan();
    for (const line of lines) {
      const [order_id, currency, network, amount, wallet] = line.split(',');
      await run('createOrder', attemptOf('withdraw', { order: { order_id, currency, network, amount, wallet } }));
    }
    const balances = (await run('readService', { account: 'default', read: 'balances' })) as Record<string, unknown>;
    for (const { currency, balanceAfter } of currencies) {
      expect(balances[currency]).toMatchObject({ amount: balanceAfter });
    }
    expect(currencies).toHaveLength(3);
  });

  test('of the same file and balance has the same digest, which any other option changes', async () => {
    const { plan } = await planner([payoutLine(1)]);
    const [first, again, ...others] = await Promise.all([
      plan({ batchId: 'x' }),
      plan({ batchId: 'x' }),
      plan({ batchId: 'y' }),
      plan({ batchId: 'x', compensation: 'finish' }),
      plan({ batchId: 'x', resend: 'never' }),
      plan({ batchId: 'x', again: true }),
    ]);
    expect(again).toEqual(first);
    expect(new Set([first, ...others].map(({ digest }) => digest)).size).toBe(5);
    expect(first.digest).toMatch(/^[0-9a-f]{64}$/);
  });

  test('without a batch id is named by its file', async () => {
    const { plan } = await planner([payoutLine(1)]);
    const { batchId, sha256 } = await plan();
    expect(batchId).toBe(sha256.slice(0, 16));
  });

  test('of inline rows needs no folder', async () => {
    const { run } = await openActivities();
    const rows: WithdrawRequest[] = [
      { order_id: 'a', currency: 'usd', network: 'card', amount: '10', wallet: CARD },
      { order_id: 'b', currency: 'usd', network: 'card', amount: '11', wallet: CARD },
    ];
    const planned = await run('planBatch', { account: 'default', input: { rows, startedBy: 'ann' } });
    expect(planned).toMatchObject({ rows: 2, currencies: [{ total: '21' }] });
  });
});

describe('warnings', () => {
  test('name the lines in which a wallet gets the same amount, masked', async () => {
    const lines = [
      `a,usd,card,10,${CARD}`,
      `b,usd,card,10.00,${CARD}`,
      payoutLine(7),
      `c,usd,card,10,${CARD}`,
      `d,usd,card,11,${CARD}`,
    ];
    const { plan } = await planner(lines);
    const { warnings, warningCount } = await plan();
    expect(warnings).toEqual([{ rows: [2, 3, 5], reason: '****1111 gets 10 usd more than once' }]);
    expect(warningCount).toBe(1);
  });

  test('look into payouts to several cards', async () => {
    const cell = `"[{""amount"":""6"",""wallet"":""${CARD}""},{""amount"":""4"",""wallet"":""${cardNumber(1)}""}]"`;
    const row = (id: string) => `${id},usd,multiple_cards,10,cards,${cell}`;
    const { plan } = await planner([row('a'), row('b')], { header: `${PAYOUT_HEADER},wallet_details` });
    const { warnings } = await plan();
    expect(warnings.map(({ rows, reason }) => [rows, reason.replace(/^\S+/, '')])).toEqual([
      [[2, 3], ' gets 6 usd more than once'],
      [[2, 3], ' gets 4 usd more than once'],
    ]);
  });

  test('are 50 at most, and counted', async () => {
    const lines = Array.from({ length: 120 }, (_, index) => `r-${index},usd,card,10,${cardNumber(index % 60)}`);
    const { plan } = await planner(lines);
    const { warnings, warningCount } = await plan();
    expect([warnings.length, warningCount]).toEqual([50, 60]);
  });

  test('name rows above the cap', async () => {
    const { plan } = await planner([`a,usd,card,10,${CARD}`, `b,usd,card,2000,${CARD}`], {
      caps: new Map([['usd', '1000']]),
    });
    expect((await plan()).warnings).toEqual([{ rows: [3], reason: expect.stringContaining('PAYMENT_ORDER_CAPS') }]);
  });

  test.for<[what: string, fault: string, known: object, reason: RegExp]>([
    ['rates', 'rates.503', { fee: null, feeOnTop: null, balanceAfter: expect.any(String) }, /rates were not to be had/],
    [
      'balances',
      'balances.503',
      { fee: '1.5', balanceBefore: null, balanceAfter: null },
      /balances were not to be had/,
    ],
  ])('say that %s were not to be had, and the plan is made without them', async ([, fault, known, reason]) => {
    const { plan } = await planner([`a,usd,card,10,${CARD}`], { settings: { faults: { [fault]: 1 } } });
    const { warnings, currencies } = await plan();
    expect(warnings).toEqual([{ rows: [], reason: expect.stringMatching(reason) }]);
    expect(currencies).toMatchObject([known]);
  });
});

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

  test.for<[second: string, how: string]>([
    [`a,usd,card,10,${CARD}`, 'the same content'],
    [`a,usd,card,11,${CARD}`, 'other content'],
  ])('an id that stands there twice is named with both lines: %s has %s', async ([second, how]) => {
    const { plan } = await planner([payoutLine(1), `a,usd,card,10,${CARD}`, payoutLine(2), second]);
    const failure = await failureOf(plan());
    expect(failure.message).toContain(`line 5: order.order_id: lines 3 and 5 have the same id, with ${how}`);
  });

  test('1 in 10,000 is found, and written down', async () => {
    const { plan, batchDir, reportDir } = await planner([]);
    const bad = (row: number) => (row === 5_678 ? `r-5678,usd,card,10,${CARD}5` : payoutLine(row));
    await writePayouts(join(batchDir, 'rows.csv'), 10_000, bad);
    const failure = await failureOf(plan({ batchId: 'payroll' }));
    expect(failure.message).toMatch(/1 of 10000 are bad.*payroll\.errors\.csv.*line 5679: order\.wallet/);
    expect(readdirSync(reportDir)).toEqual(['payroll.errors.csv']);
    expect(parse(readFileSync(join(reportDir, 'payroll.errors.csv')), { columns: true })).toEqual([
      { line: '5679', field: 'order.wallet', reason: expect.stringContaining('check digit') },
    ]);
  });

  test('thousands are all written down, while the failure stays small', async () => {
    const lines = Array.from({ length: 3_000 }, (_, index) => `${'x '.repeat(60)}${index},USD,CARD,-1,${CARD}${index}`);
    const { plan, reportDir } = await planner(lines);
    const failure = await failureOf(plan({ batchId: 'b' }));
    expect(failure.message.length).toBeLessThanOrEqual(1_000);
    expect(Buffer.byteLength(JSON.stringify(failure.details))).toBeLessThan(50_000);
    const written: { line: string }[] = parse(readFileSync(join(reportDir, 'b.errors.csv')), { columns: true });
    expect(new Set(written.map(({ line }) => line)).size).toBe(3_000);
    expect(readFileSync(join(reportDir, 'b.errors.csv'), 'utf8')).not.toContain(CARD);
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
    [
      'file and rows',
      { rows: [{ order_id: 'a', currency: 'usd', network: 'card', amount: '1', wallet: CARD }] },
      'file',
    ],
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

describe('while it checks', () => {
  const lines = Array.from({ length: 1_000 }, (_, index) => payoutLine(index));

  test('it tells how many rows it has checked', async () => {
    const { plan } = await planner(lines);
    const beats: unknown[] = [];
    await plan({}, { onHeartbeat: (details) => beats.push(details) });
    expect(beats.slice(0, 2)).toEqual([{ rowsChecked: 100 }, { rowsChecked: 200 }]);
  });

  test('it stops when it is cancelled and leaves no file behind', async () => {
    const { plan, batchDir, reportDir } = await planner([]);
    writeFileSync(join(batchDir, 'rows.csv'), [PAYOUT_HEADER, 'bad', ...lines, ''].join('\n'));
    const beats: unknown[] = [];
    const planning = plan(
      {},
      {
        onHeartbeat: (details, environment) => {
          beats.push(details);
          environment.cancel();
        },
      },
    );
    await expect(planning).rejects.toThrow(CancelledFailure);
    expect(beats).toEqual([{ rowsChecked: 100 }]);
    expect(readdirSync(reportDir)).toEqual([]);
  });
});
