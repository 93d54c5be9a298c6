import { appendFile, writeFile } from 'node:fs/promises';
import { WorkflowFailedError } from '@temporalio/client';
import { describe, expect, it, vi } from 'vitest';
import { startBatch } from '../../../src/client/batch/start-batch.js';
import { ORDERS_TASK_QUEUE } from '../../../src/contract/names.js';
import { periodAt } from '../../../src/validation/batch-input.js';
import { newOrderId } from '../../support/lab.js';
import { csvOf, executedOf, testRows, untilPhase, useBatchLab } from './batches.fixture.js';
import { fileOf, makeOld, PERIOD, type ScheduledWorkflow, schedule, trigger, writeOld } from './schedules.fixture.js';

const lab = useBatchLab();

const EVERY_SECOND = '* * * * * * *';

const runOf = (workflowId: string) => lab.temporal.client.workflow.getHandle<ScheduledWorkflow>(workflowId);

const scheduleOf = (plan: string) => lab.temporal.client.schedule.getHandle(`default.${plan}`);

/** Whether a schedule is paused, and how the runs ended that it started. */
async function lookAt(plan: string) {
  const { info, state } = await scheduleOf(plan).describe();
  const started = info.recentActions.map(({ action }) => action.workflow.workflowId);
  const lastRuns = await Promise.all(started.map((workflowId) => runOf(workflowId).describe()));
  return { paused: state.paused, lastRuns };
}

/** Why a run failed. */
const failureOf = async (result: Promise<unknown>) => {
  const error = await result.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(WorkflowFailedError);
  return (error as WorkflowFailedError).cause as Error & { type?: string };
};

const until = <T>(look: () => Promise<T>, timeout = 40_000): Promise<T> => vi.waitFor(look, { timeout, interval: 200 });

describe.concurrent('a schedule', () => {
  it('pays the file of its period once, however often it comes round', async () => {
    const plan = await schedule(lab, 'daily', { cron: [EVERY_SECOND] });
    const today = periodAt(new Date(), 'UTC', 'date');
    const rows = await writeOld(lab, plan, today);
    const runs = await until(async () => {
      const { lastRuns } = await lookAt(plan);
      const done = lastRuns.filter(({ status }) => status.name === 'COMPLETED');
      expect(done.length).toBeGreaterThan(1);
      return done;
    }, 90_000);
    await scheduleOf(plan).delete();
    expect(executedOf(lab, rows)).toBe(3);
    for (const { workflowId } of runs) {
      expect(await runOf(workflowId).result()).toMatchObject({
        batchId: `${plan}.${today}`,
        outcomes: { completed: 3 },
      });
    }
    // It shares one worker with the tests beside it.
  }, 100_000);

  it('is paused by a file that does not come, and says which', async () => {
    const plan = await schedule(lab, 'missing', { cron: [EVERY_SECOND], waitForFileMs: 500 });
    const paused = await until(async () => {
      const entry = await lookAt(plan);
      expect(entry.paused).toBe(true);
      return entry;
    });
    expect(paused.lastRuns.at(-1)?.status.name).toBe('FAILED');
    const failure = await failureOf(runOf(paused.lastRuns.at(-1)?.workflowId ?? '').result());
    expect(failure).toMatchObject({ type: 'BatchFileUnusable' });
    expect(failure.message).toContain('there is no such file');
  });

  it('is paused by a file that never stops changing, and sends nothing of it', async () => {
    const plan = newOrderId('endless');
    const rows = await writeOld(lab, plan, periodAt(new Date(), 'UTC', 'date'));
    await schedule(lab, 'endless', { cron: [EVERY_SECOND], waitForFileMs: 3_000 }, plan);
    const growing = setInterval(() => {
      void appendFile(
        fileOf(lab, plan, periodAt(new Date(), 'UTC', 'date')),
        `${csvOf(testRows(plan, 1)).split('\n')[1]}\n`,
      );
    }, 500);
    const paused = await until(async () => {
      const entry = await lookAt(plan);
      expect(entry.paused).toBe(true);
      return entry;
    }).finally(() => clearInterval(growing));
    const failure = await failureOf(runOf(paused.lastRuns.at(-1)?.workflowId ?? '').result());
    expect(failure).toMatchObject({ type: 'BatchFileUnusable' });
    expect(failure.message).toMatch(/still grows/);
    expect(executedOf(lab, rows)).toBe(0);
  });

  it('tells the period by the clock of its time zone, also around the change to summer time', async () => {
    const plan = await schedule(lab, 'dst', { cron: ['30 0 * * *'], timeZone: 'Europe/Berlin' });
    const rows = [...(await writeOld(lab, plan, '2026-03-29')), ...(await writeOld(lab, plan, '2026-03-30'))];
    await lab.temporal.client.schedule.getHandle(`default.${plan}`).backfill({
      start: new Date('2026-03-28T23:00:00Z'),
      end: new Date('2026-03-29T23:00:00Z'),
      overlap: 'ALLOW_ALL',
    });
    const runs = [
      [`scheduled:default:${plan}-2026-03-28T23:30:00Z`, `${plan}.2026-03-29`],
      [`scheduled:default:${plan}-2026-03-29T22:30:00Z`, `${plan}.2026-03-30`],
    ] as const;
    for (const [workflowId, batchId] of runs) {
      await until(() => runOf(workflowId).describe());
      expect(await runOf(workflowId).result()).toMatchObject({ batchId, outcomes: { completed: 3 } });
    }
    expect(executedOf(lab, rows)).toBe(6);
  });
});

describe.concurrent('a period', () => {
  it('is paid once by triggers at the same time, later ones and a backfill', async () => {
    const plan = await schedule(lab, 'once', { cron: ['0 10 * * *'] });
    const rows = await writeOld(lab, plan);
    const [first] = await Promise.all([trigger(lab, plan), trigger(lab, plan), trigger(lab, plan)]);
    const paid = await first.run.result();
    expect(await (await trigger(lab, plan)).run.result()).toEqual(paid);
    await lab.temporal.client.schedule.getHandle(`default.${plan}`).backfill({
      start: new Date(`${PERIOD}T00:00:00Z`),
      end: new Date(`${PERIOD}T23:00:00Z`),
      overlap: 'ALLOW_ALL',
    });
    const backfilled = runOf(`scheduled:default:${plan}-${PERIOD}T10:00:00Z`);
    await until(() => backfilled.describe());
    expect(await backfilled.result()).toEqual(paid);
    expect(executedOf(lab, rows)).toBe(3);
  });

  it('whose batch waits for approval goes on when somebody else approves', async () => {
    const plan = await schedule(lab, 'approved', { batch: { startedBy: 'ann', approval: 'required' } });
    const rows = await writeOld(lab, plan);
    const { run, batch } = await trigger(lab, plan);
    const { plan: planned } = await until(() => untilPhase(batch, 'awaitingApproval'));
    const digest = planned?.digest ?? '';
    await expect(batch.approve({ digest, by: 'Ann' })).rejects.toThrow('somebody else');
    expect(executedOf(lab, rows)).toBe(0);
    await batch.approve({ digest, by: 'bob' });
    expect(await run.result()).toMatchObject({ digest, outcomes: { completed: 3 } });
  });

  it('whose file still grows waits for the end of it', async () => {
    const plan = await schedule(lab, 'growing');
    const rows = testRows(plan, 30);
    const lines = csvOf(rows).split('\n');
    await writeFile(fileOf(lab, plan), `${lines.slice(0, 4).join('\n')}\n`);
    const { run } = await trigger(lab, plan);
    for (const part of [lines.slice(4, 12), lines.slice(12, 20), lines.slice(20)]) {
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      await appendFile(fileOf(lab, plan), part.join('\n') + (part.at(-1) === '' ? '' : '\n'));
    }
    await makeOld(lab, plan);
    expect(await run.result()).toMatchObject({ rows: 30, outcomes: { completed: 30 } });
  });

  it('whose batch leaves rows without an order fails, and keeps the result', async () => {
    const plan = await schedule(lab, 'incomplete', { batch: { startedBy: 'ann', approval: 'required' } });
    await writeOld(lab, plan);
    const { run, batch } = await trigger(lab, plan);
    await until(() => untilPhase(batch, 'awaitingApproval'));
    await batch.stop({ by: 'bob', reason: 'wrong month' });
    const failure = await failureOf(run.result());
    expect(failure).toMatchObject({
      type: 'BatchIncomplete',
      details: [expect.objectContaining({ outcomes: expect.objectContaining({ notStarted: 3 }) })],
    });
    expect(failure.message).toContain('stopped by bob: wrong month');
  });

  it('whose file was changed after its batch began is refused, and nothing of the change is sent', async () => {
    const plan = await schedule(lab, 'edited');
    const rows = await writeOld(lab, plan);
    await (await trigger(lab, plan)).run.result();
    const added = testRows(plan, 1);
    await writeOld(lab, plan, PERIOD, [...rows, ...added]);
    const failure = await failureOf((await trigger(lab, plan)).run.result());
    expect(failure).toMatchObject({ type: 'BatchFileUnusable' });
    expect(failure.message).toContain('file.sha256');
    expect(executedOf(lab, added)).toBe(0);
  });

  it('whose id was used for rows of somebody else fails: its file is not said to be paid', async () => {
    const plan = await schedule(lab, 'inline');
    const rows = await writeOld(lab, plan);
    const urgent = {
      order_id: newOrderId('urgent'),
      currency: 'usd',
      network: 'card',
      amount: '1',
      wallet: '4111111111111111',
    };
    const other = await lab.orders.batches.start({ batchId: `${plan}.${PERIOD}`, rows: [urgent], startedBy: 'bob' });
    await other.result();
    const failure = await failureOf((await trigger(lab, plan)).run.result());
    expect(failure).toMatchObject({ type: 'BatchFileUnusable' });
    expect(failure.message).toContain('rows of its own, and no file');
    expect(executedOf(lab, rows)).toBe(0);
  });

  it('of which the file is gone again is followed by its batch alone', async () => {
    const plan = await schedule(lab, 'archived');
    await writeOld(lab, plan);
    const paid = await (await trigger(lab, plan)).run.result();
    await scheduleOf(plan).delete();
    const moved = await schedule(lab, 'archived-elsewhere');
    const run = await lab.temporal.client.workflow.start<ScheduledWorkflow>('scheduledBatch', {
      workflowId: `scheduled:default:${moved}-${PERIOD}`,
      taskQueue: ORDERS_TASK_QUEUE,
      args: [{ plan, period: PERIOD, filePattern: 'archive-{period}.csv', batch: { startedBy: 'ann' } }],
    });
    expect(await run.result()).toEqual(paid);
  });
});

describe.concurrent('a file whose rows were sent by hand', () => {
  it('executes nothing more by trigger or by backfill, under whatever batch', async () => {
    const [triggered, backfilled] = [newOrderId('by-trigger'), newOrderId('by-backfill')];
    const rows = await writeOld(lab, triggered, PERIOD, testRows(triggered, 50));
    const file = { path: `${triggered}-${PERIOD}.csv` };
    const byHand = await startBatch(lab.temporal.client, { batchId: newOrderId('by-hand'), file, startedBy: 'ann' });
    expect((await byHand.result()).outcomes).toMatchObject({ completed: 50 });
    const { createsByOrderId } = lab.sandbox.stats();

    const common = { cron: ['0 10 * * *'], filePattern: `${triggered}-{period}.csv`, batch: { startedBy: 'ann' } };
    for (const plan of [triggered, backfilled]) await lab.orders.schedules.create({ plan, ...common });
    await lab.temporal.client.schedule.getHandle(`default.${backfilled}`).backfill({
      start: new Date(`${PERIOD}T00:00:00Z`),
      end: new Date(`${PERIOD}T23:00:00Z`),
      overlap: 'ALLOW_ALL',
    });
    const runs = [(await trigger(lab, triggered)).run, runOf(`scheduled:default:${backfilled}-${PERIOD}T10:00:00Z`)];
    for (const [index, run] of runs.entries()) {
      await until(() => run.describe());
      const batchId = `${[triggered, backfilled][index]}.${PERIOD}`;
      expect(await run.result()).toMatchObject({ batchId, outcomes: { completed: 50 } });
    }
    const since = lab.sandbox.stats();
    for (const { id } of rows) {
      expect([since.executedByOrderId[id], since.createsByOrderId[id]]).toEqual([1, createsByOrderId[id]]);
    }
  });
});

describe.concurrent('a start that names no batch fails at once', () => {
  it.each([
    ['neither schedule nor period', {}, 'period: required'],
    ['a period that is no day', { period: '2026-02-30' }, 'period: must be a date'],
    ['a period of the other format', { period: `${PERIOD}T10-00` }, 'period: must be a date'],
    ['no such time zone', { period: PERIOD, timeZone: 'Europe/Nowhere' }, 'timeZone: must be a time zone'],
    ['a pattern without period', { period: PERIOD, filePattern: 'payroll.csv' }, 'filePattern: must contain {period}'],
    ['a path that leads out', { period: PERIOD, filePattern: '../{period}.csv' }, 'filePattern: must be a plain path'],
    ['an unknown field', { period: PERIOD, again: true }, 'again: unknown field'],
  ])('%s', async (_, change, reason) => {
    const plan = newOrderId('bad');
    const input = { plan, filePattern: `${plan}-{period}.csv`, batch: { startedBy: 'ann' }, ...change };
    const run = lab.temporal.client.workflow.execute('scheduledBatch', {
      workflowId: `scheduled:default:${plan}`,
      taskQueue: ORDERS_TASK_QUEUE,
      args: [input],
    });
    const failure = await failureOf(run);
    expect(failure).toMatchObject({ type: 'InvalidInput' });
    expect(failure.message).toContain(reason);
  });
});
