import { ScheduleNotFoundError } from '@temporalio/client';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ScheduleInput } from '../../src/client/batch/schedule-spec.js';
import { PaymentOrders } from '../../src/client.js';
import { useNamespace } from '../support/temporal.js';

const namespace = useNamespace();
let orders: PaymentOrders;
beforeAll(() => {
  orders = new PaymentOrders(namespace.client);
});

const input = (plan: string, change: Partial<ScheduleInput> = {}): ScheduleInput => ({
  plan,
  cron: ['0 10 * * FRI'],
  timeZone: 'Europe/Berlin',
  filePattern: 'payroll-{period}.csv',
  batch: { startedBy: 'ann', approval: 'required', maxInFlight: 20 },
  ...change,
});

const describeRaw = (plan: string) => namespace.client.schedule.getHandle(`default.${plan}`).describe();

describe('create', () => {
  it('makes a schedule that skips overlaps, catches up an hour at most and pauses on a failure', async () => {
    const entry = await orders.schedules.create(input('fresh'));
    expect(entry).toMatchObject({
      scheduleId: 'default.fresh',
      attached: false,
    });
    expect(entry.nextRuns).toHaveLength(5);
    for (const next of entry.nextRuns) expect(next.getUTCDay()).toBe(5);
    const raw = await describeRaw('fresh');
    expect(raw.spec.timezone).toBe('Europe/Berlin');
    expect(raw.policies).toEqual({ overlap: 'SKIP', catchupWindow: 3_600_000, pauseOnFailure: true });
    expect(raw.action).toMatchObject({
      workflowType: 'scheduledBatch',
      workflowId: 'scheduled:default:fresh',
      taskQueue: 'payment-orders',
      args: [{ plan: 'fresh', filePattern: 'payroll-{period}.csv', batch: { startedBy: 'ann' } }],
    });
  });

  it('is paused until it was checked, also if its caller ends within the check', async () => {
    const plan = 'half-made';
    // A service that answers nothing more after the schedule was made.
    const { client } = namespace;
    const cut = Object.create(client, {
      schedule: {
        value: Object.assign(Object.create(client.schedule), {
          getHandle: () => ({ describe: () => Promise.reject(new Error('this process was killed')) }),
        }),
      },
    });
    await expect(new PaymentOrders(cut).schedules.create(input(plan))).rejects.toThrow();
    expect((await describeRaw(plan)).state).toMatchObject({
      paused: true,
      note: expect.stringMatching(/is being checked/),
    });
    expect((await orders.schedules.create(input(plan))).attached).toBe(true);
    expect((await describeRaw(plan)).state).toMatchObject({ paused: false });
  });

  it('found again leaves the pause of a person', async () => {
    await orders.schedules.create(input('person'));
    await namespace.client.schedule.getHandle('default.person').pause('the bank is closed');
    await orders.schedules.create(input('person'));
    expect((await describeRaw('person')).state).toMatchObject({ paused: true, note: 'the bank is closed' });
  });

  it('takes an ending in capitals', async () => {
    const entry = await orders.schedules.create(input('capitals', { filePattern: 'PAYROLL-{period}.CSV' }));
    expect(entry).toMatchObject({ nextRun: { problem: expect.stringMatching(/^not checked: no worker/) } });
  });

  it('acts in UTC where no time zone is given', async () => {
    await orders.schedules.create(input('utc', { timeZone: undefined }));
    expect((await describeRaw('utc')).spec.timezone).toBe('UTC');
  });

  it('of the same settings attaches, whoever asks', async () => {
    await orders.schedules.create(input('twice'));
    const { batch } = input('twice');
    const again = await orders.schedules.create(input('twice', { batch: { ...batch, startedBy: 'bob' } }));
    expect(again.attached).toBe(true);
    expect((await describeRaw('twice')).action.args).toMatchObject([{ batch: { startedBy: 'ann' } }]);
  });

  it.each<[string, Partial<ScheduleInput>, string[]]>([
    ['times', { cron: ['0 11 * * FRI'] }, ['times']],
    ['one time more', { cron: ['0 10 * * FRI', '0 10 * * MON'] }, ['times']],
    ['time zone', { timeZone: 'UTC' }, ['timeZone']],
    ['file', { filePattern: 'other-{period}.csv' }, ['filePattern']],
    ['period', { periodFormat: 'minute' }, ['periodFormat']],
    ['wait', { waitForFileMs: 1_000 }, ['waitForFileMs']],
    ['approval', { batch: { startedBy: 'ann', maxInFlight: 20 } }, ['batch.approval']],
  ])('of another %s is a conflict that changes nothing', async (_, change, fields) => {
    await orders.schedules.create(input('conflict'));
    const before = await describeRaw('conflict');
    await expect(orders.schedules.create(input('conflict', change))).rejects.toMatchObject({
      name: 'ConflictError',
      subject: 'schedule',
      fields,
    });
    expect((await describeRaw('conflict')).spec).toEqual(before.spec);
  });

  it('sees that somebody set other times elsewhere', async () => {
    await orders.schedules.create(input('edited'));
    await namespace.client.schedule.getHandle('default.edited').update((known) => ({
      ...known,
      spec: { cronExpressions: ['0 11 * * FRI'], timezone: 'Europe/Berlin' },
    }));
    await expect(orders.schedules.create(input('edited'))).rejects.toMatchObject({ fields: ['times'] });
  });

  it.each<[string, Partial<ScheduleInput>, string]>([['day', { cron: ['0 10 30 2 *'] }, 'cron']])(
    'refuses times that never come, of no such %s, and leaves no schedule',
    async (which, change, field) => {
      const plan = `never-${which}`;
      await expect(orders.schedules.create(input(plan, change))).rejects.toMatchObject({
        name: 'InvalidInputError',
        fields: [{ field, reason: expect.stringMatching(/^never runs: no such time comes/) }],
      });
      await expect(describeRaw(plan)).rejects.toBeInstanceOf(ScheduleNotFoundError);
    },
  );

  it.each<[string, Partial<ScheduleInput>, boolean]>([
    ['every 5 minutes', { cron: ['*/5 * * * *'] }, true],
    ['by two expressions on one day', { cron: ['0 9 * * FRI', '0 17 * * FRI'] }, true],
    ['twice a day, by the minute', { cron: ['0 9,17 * * *'], periodFormat: 'minute' }, false],
    ['once a day', { cron: ['0 10 * * *'] }, false],
  ])('warns if several runs share a period: %s', async (name, change, warns) => {
    const plan = `shared-${name.replace(/\W/g, '-')}`;
    const { warning } = await orders.schedules.create(input(plan, change));
    if (warns) expect(warning).toMatch(/only the first of them pays.*--period-format minute/);
    else expect(warning).toBeUndefined();
  });

  it.each<[string, object, string]>([
    ['no times', { cron: undefined }, 'cron'],
    ['a minute that no hour has', { cron: ['99 10 * * FRI'] }, 'times'],
    ['a time zone in the expression', { cron: ['CRON_TZ=UTC 0 10 * * FRI'] }, 'cron[0]'],
    ['an unknown time zone', { timeZone: 'Europe/Nowhere' }, 'timeZone'],
    ['a file outside the folder', { filePattern: '../{period}.csv' }, 'filePattern'],
    ['no period in the file', { filePattern: 'payroll.csv' }, 'filePattern'],
    ['a workbook', { filePattern: 'payroll-{period}.xlsx' }, 'filePattern'],
    ['a file without ending', { filePattern: 'payroll-{period}' }, 'filePattern'],
    ['a period', { period: '2026-11-27' }, 'period'],
    ['a bad plan', { plan: 'a.b' }, 'plan'],
    [
      'a latest time, which is the same for all runs',
      { batch: { startedBy: 'a', latestSend: 'x' } },
      'batch.latestSend',
    ],
    ['again, which is about one batch', { batch: { startedBy: 'a', again: true } }, 'batch.again'],
    ['a cancelled expiry', { batch: { startedBy: 'a', approvalExpiresMs: 0 } }, 'batch.approvalExpiresMs'],
  ])('refuses %s', async (_, change, field) => {
    const bad = { ...input('bad'), ...change };
    await expect(orders.schedules.create(bad)).rejects.toMatchObject({
      name: 'InvalidInputError',
      fields: expect.arrayContaining([expect.objectContaining({ field })]),
    });
  });
});

describe('a schedule', () => {
  it('is triggered for a period, also while it is paused', async () => {
    await orders.schedules.create(input('triggered'));
    await namespace.client.schedule.getHandle('default.triggered').pause();
    const { workflowId, batch } = await orders.schedules.trigger('triggered', { period: '2026-11-27', by: 'bob' });
    expect(workflowId).toBe('scheduled:default:triggered-2026-11-27');
    expect(batch).toMatchObject({ workflowId: 'bulk:default:triggered.2026-11-27' });
    const run = await namespace.client.workflow.getHandle(workflowId).describe();
    expect(run).toMatchObject({ type: 'scheduledBatch', taskQueue: 'payment-orders' });
    await orders.schedules.trigger('triggered', { period: '2026-11-27' });
    expect((await namespace.client.workflow.getHandle(workflowId).describe()).runId).toBe(run.runId);
  });

  it.each(['2026-11-31', '27.11.2026', '2026-11-27T10-00', ''])('is not triggered for %j', async (period) => {
    await orders.schedules.create(input('never'));
    await expect(orders.schedules.trigger('never', { period })).rejects.toMatchObject({
      fields: [expect.objectContaining({ field: 'period' })],
    });
  });

  it('that does not exist is unknown', async () => {
    await expect(orders.schedules.trigger('nowhere', { period: '2026-11-27' })).rejects.toMatchObject({
      name: 'UnknownIdError',
      subject: 'schedule',
    });
  });
});
