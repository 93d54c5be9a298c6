import { describe, expect, it } from 'vitest';
import {
  ConflictError,
  FailedError,
  NotDecidedYetError,
  RefusedError,
  UnknownIdError,
  UnresolvedError,
} from '../../src/client/errors.js';
import { type BatchOutcomes, type BatchResult, NONE_ENDED } from '../../src/contract/batch/batch.js';
import { exitCodeOfBatch, exitCodeOfError } from '../../src/starter/report.js';
import { runStarterAlone as starter } from '../support/run-starter.js';

const row = { order_id: 'p-1', currency: 'usd', network: 'card', amount: '12.50', wallet: '4111111111111111' };
const CREATE = ['schedule', 'create', 'payroll', '--file-pattern', 'payroll-{period}.csv'];

describe('a good command line gets as far as Temporal', () => {
  it.each([
    [['batch', 'plan', '2026/payroll.csv']],
    [['batch', 'start', 'payroll.csv', '--id', 'p.1', '--approval', 'required', '--by', 'ann', '--again', '--wait']],
    [['batch', 'start', 'payroll.csv', '--stop-after-failures', '3', '--resend', 'never']],
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
  ])('%j', async (argv) => {
    const { code, stderr, stdout } = await starter(argv, JSON.stringify([row]));
    expect({ code, said: stderr + stdout }).toEqual({
      code: 3,
      said: expect.stringContaining('cannot reach Temporal'),
    });
  });
});

describe('bad usage exits 2 and starts nothing', () => {
  it.each([
    [['batch']],
    [['batch', 'start']],
    [['batch', 'start', '/etc/payroll.csv']],
    [['batch', 'start', 'payroll.csv', '--id', 'a b']],
    [['batch', 'start', 'payroll.csv', '--approval', 'maybe']],
    [['batch', 'start', 'payroll.csv', '--approval-expires', '1h']],
    [['batch', 'start', 'payroll.csv', '--stop-after-failures', '0']],
    [['batch', 'start', 'payroll.csv', '--max-in-flight', '5000']],
    [['batch', 'start', 'payroll.csv', '--latest-send', 'friday']],
    [['batch', 'start', 'payroll.csv', '--inline']],
    [['batch', 'approve', 'p.1', '--by', 'bob']],
    [['batch', 'pause', 'p.1', '--by', 'bob']],
    [['batch', 'pause', 'p.1', '--by', 'bob', '--reason', 'wait', '--paused-at', '2026-11-27T18:00:00.123Z']],
    [['schedule', 'create', 'payroll', '--cron', '0 10 * * FRI']],
    [CREATE],
    [[...CREATE, '--cron', 'fridays']],
    [[...CREATE, '--calendar', '{"hour": 10}']],
    [[...CREATE, '--cron', '0 10 * * FRI', '--time-zone', 'Berlin']],
    [[...CREATE, '--cron', '0 10 * * FRI', '--wait-for-file', '30']],
    [['schedule', 'trigger', 'payroll']],
  ])('%j', async (argv) => {
    const { code, stdout, stderr } = await starter(argv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).not.toBe('');
  });
});

describe('inline rows', () => {
  it('are read from standard input', async () => {
    const text = JSON.stringify([row, { ...row, order_id: 'p-2' }]);
    expect((await starter(['batch', 'start', '-'], text)).code).toBe(3);
  });

  it.each([
    ['a number as amount, in an array', `[${JSON.stringify(row).replace('"12.50"', '12.50')}]`, 'rows[0].amount'],
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

const outcomes: BatchOutcomes = { ...NONE_ENDED, completed: 3, notStarted: 0 };

describe('the exit code of a batch', () => {
  it.each<[number, Partial<BatchOutcomes>]>([
    [0, {}],
    [1, { completed: 2, completed_partially: 1 }],
    [1, { completed: 2, canceled: 1 }],
    [1, { completed: 2, error: 1 }],
    [1, { completed: 2, refused: 1 }],
    [1, { completed: 2, conflict: 1 }],
    [1, { completed: 2, notStarted: 1 }],
    [4, { completed: 2, parked: 1 }],
    [4, { completed: 0, error: 2, parked: 1 }],
  ])('is %d for %j', (code, change) => {
    expect(exitCodeOfBatch({ rows: 3, outcomes: { ...outcomes, ...change } } as BatchResult)).toBe(code);
  });

  it.each<[number, Error]>([
    [2, new ConflictError('batch', 'b', ['file.sha256'])],
    [2, new RefusedError('batch', 'b', 'instruction', 'stale')],
    [2, new UnknownIdError('batch', 'b', 'default')],
    [2, new ConflictError('schedule', 'p', ['times'])],
    [2, new UnknownIdError('schedule', 'p', 'default')],
    [2, new FailedError('batch', 'b', 'InvalidInput', 'bad rows')],
    [2, new FailedError('batch', 'b', 'BatchFileUnusable', 'no such file')],
    [1, new FailedError('batch', 'b', 'BatchNotApproved', 'nobody did')],
    [1, new FailedError('batch', 'b', 'BatchStopped', 'stopped')],
    [4, new NotDecidedYetError('batch', 'b')],
    [4, new UnresolvedError('batch', 'b', 'terminated')],
  ])('is %d for %s', (code, error) => {
    expect(exitCodeOfError(error)).toBe(code);
  });
});
