import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ScheduleNotFoundError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type { ScheduleInput } from '../../../src/client/batch/schedule-spec.js';
import { newOrderId } from '../../support/lab.js';
import { csvOf, executedOf, testRows, useBatchLab } from './batches.fixture.js';

const lab = useBatchLab();

/** A time far enough off that nothing runs in this test, with the period that it has. */
const CRON = '0 10 1 1 * 2090';
const PERIOD = '2090-01-01';

const inputOf = (plan: string, change: Partial<ScheduleInput> = {}): ScheduleInput => ({
  plan,
  cron: [CRON],
  filePattern: `${plan}-{period}.csv`,
  batch: { startedBy: 'ann' },
  ...change,
});

const pathOf = (plan: string) => join(lab.folder, `${plan}-${PERIOD}.csv`);

describe.concurrent('creating a schedule', () => {
  it('plans the file of its next run, which sends nothing', async () => {
    const plan = newOrderId('planned');
    const rows = testRows(plan, 3);
    await writeFile(pathOf(plan), csvOf(rows));
    const { nextRun } = await lab.orders.schedules.create(inputOf(plan));
    expect(nextRun).toMatchObject({ period: PERIOD, path: `${plan}-${PERIOD}.csv`, plan: { rows: 3 } });
    expect(executedOf(lab, rows)).toBe(0);
    // The same settings again look again.
    expect(await lab.orders.schedules.create(inputOf(plan))).toMatchObject({ attached: true, nextRun: { plan: {} } });
  });

  it('says that the file is not there yet', async () => {
    const plan = newOrderId('missing');
    const { nextRun } = await lab.orders.schedules.create(inputOf(plan));
    expect(nextRun).toMatchObject({ period: PERIOD, problem: expect.stringMatching(/no such file below BATCH_DIR/) });
    expect(nextRun).not.toHaveProperty('plan');
  });

  it('shows the bad rows of the file, which may be mended until then', async () => {
    const plan = newOrderId('bad-rows');
    await writeFile(pathOf(plan), csvOf(testRows(plan, 1)).replace(/,\d+(\.\d+)?,/, ',"1,000",'));
    const { nextRun } = await lab.orders.schedules.create(inputOf(plan));
    expect(nextRun?.problem).toMatch(/1 of 1 are bad.*line 2: order\.amount/);
  });

  it('of which no run could start is refused, and leaves none behind', async () => {
    const plan = newOrderId('linked');
    await symlink('/etc/hostname', pathOf(plan));
    const created = lab.orders.schedules.create(inputOf(plan));
    await expect(created).rejects.toMatchObject({
      name: 'InvalidInputError',
      fields: [{ field: 'file.path', reason: expect.stringMatching(/symbolic link/) }],
    });
    const schedule = lab.temporal.client.schedule.getHandle(`default.${plan}`);
    await expect(schedule.describe()).rejects.toBeInstanceOf(ScheduleNotFoundError);
  });

  it('of an account that no worker serves says that nothing was checked', async () => {
    const { nextRun } = await lab.orders.schedules.create(inputOf(newOrderId('other'), { account: 'nobody' }));
    expect(nextRun?.problem).toMatch(/not checked: no worker that serves account nobody/);
  });
});
