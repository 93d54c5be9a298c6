import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PaymentOrders } from '../../src/client.js';
import { newOrderId } from '../support/lab.js';
import { runStarterWith } from '../support/run-starter.js';
import { csvOf, executedOf, testRows, useBatchLab } from '../workflows/batch/batches.fixture.js';

const lab = useBatchLab();

/** Runs a command line against the lab. */
const starter = (argv: string[], stdin?: string) =>
  runStarterWith(async () => new PaymentOrders(lab.temporal.client), argv, stdin);

async function write(label: string, count: number): Promise<{ path: string; rows: ReturnType<typeof testRows> }> {
  const rows = testRows(label, count);
  const path = `${newOrderId(label)}.csv`;
  await writeFile(join(lab.folder, path), csvOf(rows));
  return { path, rows };
}

describe.concurrent('a batch on the command line', () => {
  it('is planned, started, approved, watched and shown', async () => {
    const { path, rows } = await write('cli', 5);
    const planned = await starter(['batch', 'plan', path]);
    expect(planned).toMatchObject({ code: 0, stdout: expect.stringMatching(/usd +5 +62\.5 /) });
    expect(planned.stdout).toContain('nothing was started');

    const options = ['--approval', 'required', '--by', 'ann'];
    const waiting = await starter(['batch', 'start', path, ...options, '--wait']);
    expect(waiting.code).toBe(4);
    const [, batchId = '', digest = ''] = /batch approve (\S+) --digest (\S+) --by/.exec(waiting.stdout) ?? [];
    expect(executedOf(lab, rows)).toBe(0);

    const own = await starter(['batch', 'approve', batchId, '--digest', digest, '--by', 'ann']);
    expect(own).toMatchObject({ code: 2, stderr: expect.stringContaining('somebody else must approve') });
    expect(await starter(['batch', 'approve', batchId, '--digest', digest, '--by', 'bob'])).toMatchObject({ code: 0 });

    const watched = await starter(['batch', 'show', batchId, '--watch']);
    expect(watched).toMatchObject({ code: 0, stdout: expect.stringContaining('5 completed') });
    const shown = await starter(['batch', 'show', batchId, '--json']);
    const { result } = JSON.parse(shown.stdout);
    expect(result).toMatchObject({ batchId, digest, rows: 5, outcomes: { completed: 5 } });

    const again = await starter(['batch', 'start', path, ...options]);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('ended before; --again runs it anew') });
    expect(again.stdout).toContain('Nothing was paid now');
    expect(executedOf(lab, rows)).toBe(5);
  });

  it('exits 1 when a row was not paid, and 4 while one is parked', async () => {
    const row = (marker: string) => ({
      order_id: newOrderId('inline'),
      currency: 'usd',
      network: 'card',
      amount: '12.50',
      wallet: '4111111111111111',
      description: `[sandbox ${marker}]`,
    });
    const rows = (markers: string[]) => JSON.stringify(markers.map(row));
    const [failed, parked] = await Promise.all([
      starter(['batch', 'start', '-', '--wait', '--json'], rows(['outcome=completed', 'outcome=canceled'])),
      starter(['batch', 'start', '-', '--wait', '--resend', 'never'], rows(['create=503-before'])),
    ]);
    expect(failed.code).toBe(1);
    expect(failed.stdout.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(failed.stdout).result.outcomes).toMatchObject({ completed: 1, canceled: 1 });
    expect(parked).toMatchObject({ code: 4, stdout: expect.stringContaining('1 parked') });
  });

  it('is paused, resumed and stopped with name and reason', async () => {
    const { path } = await write('stop', 40);
    const started = await starter(['batch', 'start', path, '--max-in-flight', '1', '--json']);
    const { batchId } = JSON.parse(started.stdout);
    const tell = (verb: string) => starter(['batch', verb, batchId, '--by', 'bob', '--reason', 'wrong file']);
    expect((await tell('pause')).code).toBe(0);
    expect(await starter(['batch', 'show', batchId])).toMatchObject({
      code: 4,
      stdout: expect.stringContaining('by bob: wrong file'),
    });
    // What it is paused for may be another reason than the one that was seen.
    const blind = await tell('resume');
    expect(blind).toMatchObject({ code: 2, stdout: expect.stringContaining('--paused-at is missing') });
    const at = /batch resume .* --paused-at (\S+)/.exec(blind.stdout)?.[1] ?? '';
    const resume = (time: string) =>
      starter(['batch', 'resume', batchId, '--by', 'bob', '--reason', 'it is not', '--paused-at', time]);
    const other = await resume('2020-01-01T00:00:00.000Z');
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('pausedAt: must be') });
    expect((await starter(['batch', 'show', batchId])).stdout).toContain(`at ${at} by bob`);
    expect((await resume(at)).code).toBe(0);
    expect((await tell('stop')).code).toBe(0);
    const end = await starter(['batch', 'show', batchId, '--watch']);
    expect(end).toMatchObject({ code: 1, stdout: expect.stringMatching(/stopped +by bob: wrong file/) });
    expect((await tell('stop')).code).toBe(2);
  });
});

describe.concurrent('a schedule on the command line', () => {
  it('is refused if it never runs, and created with a warning if its runs share a batch', async ({ expect }) => {
    const plan = newOrderId('times');
    const create = (cron: string) =>
      starter(['schedule', 'create', plan, '--cron', cron, '--file-pattern', `${plan}-{period}.csv`]);
    expect(await create('0 10 30 2 *')).toMatchObject({ code: 2, stderr: expect.stringContaining('cron: never runs') });
    const shared = await create('0 9,17 * * *');
    expect(shared).toMatchObject({ code: 0, stdout: expect.stringMatching(/warning: several runs.*--period-format/) });
  });

  it('is created and triggered', async ({ expect }) => {
    const plan = newOrderId('cli');
    const rows = testRows('scheduled', 2);
    await writeFile(join(lab.folder, `${plan}-2026-11-27.csv`), csvOf(rows));
    const create = ['schedule', 'create', plan, '--cron', '0 10 * * FRI', '--file-pattern', `${plan}-{period}.csv`];
    expect(await starter(create)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/0 10 \* \* FRI, UTC\nwhich days +on Friday\n/),
    });
    expect(await starter(create)).toMatchObject({ code: 0, stdout: expect.stringContaining('was there already') });
    const other = await starter([...create, '--time-zone', 'Europe/Berlin']);
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('timeZone') });

    const triggered = await starter(['schedule', 'trigger', plan, '--period', '2026-11-27', '--json']);
    const { workflowId, batchId } = JSON.parse(triggered.stdout);
    expect(batchId).toBe(`${plan}.2026-11-27`);
    await lab.temporal.client.workflow.getHandle(workflowId).result();
    expect(await starter(['batch', 'show', batchId])).toMatchObject({ code: 0 });
    expect(executedOf(lab, rows)).toBe(2);
  });
});
