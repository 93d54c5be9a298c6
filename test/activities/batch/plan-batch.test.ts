import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CancelledFailure } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { cardNumber, PAYOUT_HEADER, payoutLine } from '../../support/batch-files.js';
import { attemptOf, failureOf, openActivities, operations } from '../activity-lab.fixture.js';
import { CARD, planner, ROW } from './batch-lab.fixture.js';

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
    expect(operations(sandbox)).toEqual(['list', 'balances']);
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
      plan({ batchId: 'x', latestSend: '2026-11-27T18:00:00Z' }),
      plan({ batchId: 'x', stopAfter: { failures: 3 } }),
      plan({ batchId: 'x', stopAfter: { failures: 4 } }),
    ]);
    expect(again).toEqual(first);
    expect(new Set([first, ...others].map(({ digest }) => digest)).size).toBe(8);
    expect(first.digest).toMatch(/^[0-9a-f]{64}$/);
  });

  test('without a batch id is named by its file', async () => {
    const { plan } = await planner([payoutLine(1)]);
    const { batchId, sha256 } = await plan();
    expect(batchId).toBe(sha256.slice(0, 16));
  });

  test('of inline rows needs no folder', async () => {
    const { run } = await openActivities();
    const rows = [ROW, { ...ROW, order_id: 'b', amount: '11' }];
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

test('a worker without the account leaves the plan to one that has it', async () => {
  const { run } = await openActivities();
  const failure = await failureOf(run('planBatch', { account: 'other', input: { rows: [ROW], startedBy: 'ann' } }));
  expect(failure).toMatchObject({ type: 'NoAccount', nonRetryable: false });
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
