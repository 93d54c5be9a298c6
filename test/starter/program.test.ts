import { describe, expect, it } from 'vitest';
import { runStarterAlone as starter } from '../support/run-starter.js';

const row = { order_id: 'o-1', currency: 'usd', network: 'card', amount: '1', wallet: '4111111111111111' };
const input = JSON.stringify({ order: row });
const DECIDE = ['order', 'decide', 'o-1', '--action', 'resend', '--by', 'ann', '--reason', 'checked'];
const CREATE = ['schedule', 'create', 'payroll', '--file-pattern', 'payroll-{period}.csv'];

describe('bad usage exits 2 with a message on stderr', () => {
  it.each([
    [[]],
    [['order']],
    [['order', 'start', 'payout', '-']],
    [['order', 'start', 'withdraw', '/no/such/file']],
    [['order', 'start', 'withdraw', '-', '--timeout', '10']],
    [['order', 'start', 'withdraw', '-', '--account', 'Shop']],
    [['order', 'decide', 'o-1', '--action', 'pay-twice', '--by', 'ann', '--reason', 'no']],
    [['order', 'decide', 'o-1', '--by', 'ann', '--reason', 'no']],
    [[...DECIDE, '--revision', '1.5']],
    [['order', 'decide', 'o-1', '--action', 'finish', '--by', 'ann', '--reason', 'no', '--as', 'deposit']],
    [['order', 'decide', 'o-1', '--action', 'revert', '--by', 'ann', '--reason', 'no', '--file', '/no/such/file']],
    [['order', 'list', '--limit', '0']],
    [['address', 'create', 'ref-1']],
    [['batch', 'start', '/etc/payroll.csv']],
    [['batch', 'start', 'payroll.csv', '--id', 'a b']],
    [['batch', 'start', 'payroll.csv', '--approval', 'maybe']],
    [['batch', 'start', 'payroll.csv', '--approval-expires', '1h']],
    [['batch', 'start', 'payroll.csv', '--stop-after-failures', '0']],
    [['batch', 'start', 'payroll.csv', '--max-in-flight', '5000']],
    [['batch', 'start', 'payroll.csv', '--latest-send', 'friday']],
    [['batch', 'approve', 'p.1', '--by', 'bob']],
    [['batch', 'pause', 'p.1', '--by', 'bob', '--reason', 'wait', '--paused-at', '2026-11-27T18:00:00.123Z']],
    [['schedule', 'create', 'payroll', '--cron', '0 10 * * FRI']],
    [CREATE],
    [[...CREATE, '--cron', 'fridays']],
    [[...CREATE, '--cron', '0 10 * * FRI', '--time-zone', 'Berlin']],
    [[...CREATE, '--cron', '0 10 * * FRI', '--wait-for-file', '30']],
    [['schedule', 'trigger', 'payroll']],
  ])('%j', async (argv) => {
    const { code, stdout, stderr } = await starter(argv);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).not.toBe('');
  });
});

describe('bad input exits 2', () => {
  it.each([['not JSON'], ['[]'], ['{"order":{}}'], [input.replace('"1"', '1')], [input.replace('usd', 'USD')]])(
    '%s',
    async (text) => {
      expect((await starter(['order', 'start', 'withdraw', '-'], text)).code).toBe(2);
    },
  );

  it('names a number amount with the string to write', async () => {
    const { stderr } = await starter(['order', 'start', 'withdraw', '-'], input.replace('"1"', '0.10'));
    expect(stderr).toContain('order.amount: amounts are strings: write "0.10"');
  });

  it('when the account of the input contradicts --account', async () => {
    const other = JSON.stringify({ account: 'shop', ...JSON.parse(input) });
    const { code, stderr } = await starter(['order', 'start', 'withdraw', '-', '--account', 'other'], other);
    expect(code).toBe(2);
    expect(stderr).toContain('account: differs from --account');
  });

  it('when the latest send time is no time', async () => {
    const text = JSON.stringify({ latestSend: 'friday', ...JSON.parse(input) });
    const { code, stderr } = await starter(['order', 'start', 'withdraw', '-'], text);
    expect([code, stderr]).toEqual([2, expect.stringContaining('latestSend: must be an ISO time')]);
  });
});

describe('inline rows', () => {
  it('are read from standard input', async () => {
    const text = JSON.stringify([row, { ...row, order_id: 'p-2' }]);
    expect((await starter(['batch', 'start', '-'], text)).code).toBe(3);
  });

  it.each([
    ['a number as amount, in an array', `[${JSON.stringify(row).replace('"1"', '1.00')}]`, 'rows[0].amount'],
    ['one object a line', `${JSON.stringify(row)}\n{4111111111111111}`, 'the input is not JSON'],
    ['no rows', '[]', 'rows'],
    ['a bad wallet', JSON.stringify([{ ...row, wallet: 4111111111111112 }]), 'rows[0].wallet'],
  ])('are refused: %s', async (_, text, said) => {
    const { code, stderr } = await starter(['batch', 'start', '-'], text);
    expect(code).toBe(2);
    expect(stderr).toContain(said);
    expect(stderr).not.toContain('411111');
  });
});

describe('the file of a decision', () => {
  const revert = ['order', 'decide', 'o-1', '--action', 'revert', '--by', 'ann', '--reason', 'refund', '--file', '-'];
  it.each([
    ['[]', 'the file of a decision holds {"revertTo", "wallet_details"}'],
    ['{"revert_to":{"wallet":"4111111111111111"}}', 'revert_to: unknown field'],
    ['{"wallet_details":[{"amount":1.50,"wallet":"4111111111111111"}]}', 'amounts are strings: write "1.50"'],
  ])('%s is refused', async (text, why) => {
    const { code, stderr } = await starter(revert, text);
    expect(code).toBe(2);
    expect(stderr).toContain(why);
    expect(stderr).not.toContain('4111111111111111');
  });

  it('is read from standard input', async () => {
    const text = '{"revertTo":{"network":"card","wallet":"4111111111111111"}}';
    expect((await starter([...revert, '--revision', '3', '--run', 'r-1'], text)).code).toBe(3);
  });
});

describe('a secret on the command line', () => {
  it.each([[['--api-secret=s3cret-value']], [['--api-secret', 's3cret-value']], [['--password=s3cret-value']]])(
    '%j is refused without repeating it',
    async (argv) => {
      for (const json of [[], ['--json']]) {
        const { code, stdout, stderr } = await starter(['balances', ...argv, ...json]);
        expect(code).toBe(2);
        expect(stderr).toContain(argv[0]?.split('=')[0]);
        expect(stdout + stderr).not.toContain('s3cret-value');
      }
    },
  );
});

it('help exits 0 and tells the exit codes', async () => {
  const { code, stdout } = await starter(['--help']);
  expect(code).toBe(0);
  expect(stdout).toContain('4  not decided yet');
});

describe('when Temporal cannot be reached', () => {
  it.each([
    [['rates']],
    [['balances']],
    [['order', 'list']],
    [['order', 'show', 'o-1']],
    [['order', 'wait', 'o-1.r1']],
    [['order', 'start', 'withdraw', '-']],
    [[...DECIDE, '--revision', '0', '--run', 'r-1']],
    [['address', 'list']],
    [['batch', 'plan', '2026/payroll.csv']],
    [['batch', 'start', 'payroll.csv', '--id', 'p.1', '--approval', 'required', '--by', 'ann', '--again', '--wait']],
    [['batch', 'start', 'payroll.csv', '--latest-send', '2026-11-27T18:00:00Z', '--max-in-flight', '20']],
    [['batch', 'start', '-', '--compensation', 'report']],
    [['batch', 'approve', 'p.1', '--digest', 'abc', '--by', 'bob']],
    [['batch', 'pause', 'p.1', '--by', 'bob', '--reason', 'wait', '--account', 'shop']],
    [['batch', 'resume', 'p.1', '--by', 'bob', '--reason', 'go on']],
    [['batch', 'resume', 'p.1', '--by', 'bob', '--reason', 'go on', '--paused-at', '2026-11-27T18:00:00.123Z']],
    [['batch', 'stop', 'p.1', '--by', 'bob', '--reason', 'wrong file']],
    [['batch', 'show', 'p.1', '--watch', '--timeout', '10s', '--json']],
    [[...CREATE, '--cron', '0 10 * * FRI', '--cron', '0 10 1 * *', '--time-zone', 'Europe/Berlin']],
    [[...CREATE, '--cron', '0 9 1 * *', '--period-format', 'minute', '--wait-for-file', '2h']],
    [[...CREATE, '--cron', '0 10 * * FRI', '--approval', 'required', '--by', 'ann']],
    [['schedule', 'trigger', 'payroll', '--period', '2026-11-27']],
  ])('%j exits 3', async (argv) => {
    const stdin = argv[0] === 'batch' ? JSON.stringify([row]) : input;
    const { code, stdout, stderr } = await starter(argv, stdin);
    expect({ code, said: stdout + stderr }).toEqual({ code: 3, said: expect.stringContaining('nowhere:1') });
  });
});

describe('--json prints exactly one object on stdout', () => {
  it.each([
    [2, ['order', 'start', 'payout', '-', '--json'], ''],
    [2, ['order', 'start', 'withdraw', '-', '--json'], 'no'],
    [2, ['order', 'start', 'withdraw', '-', '--json'], '{"order":{}}'],
    [3, ['rates', '--json'], ''],
  ])('also when it exits %d: %j', async (expected, argv, stdin) => {
    const { code, stdout } = await starter(argv, stdin);
    expect(code).toBe(expected);
    expect(JSON.parse(stdout)).toMatchObject({ error: { type: expect.any(String), message: expect.any(String) } });
  });

  it('with every bad field', async () => {
    const { stdout } = await starter(
      ['order', 'start', 'withdraw', '-', '--json'],
      input.replace('"1"', '1').replace('usd', 'USD'),
    );
    expect(JSON.parse(stdout).error.fields.map(({ field }: { field: string }) => field)).toEqual([
      'order.amount',
      'order.currency',
    ]);
  });
});
