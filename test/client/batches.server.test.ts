import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { BatchStart } from '../../src/client/batch/batches.js';
import { ConflictError, InvalidInputError } from '../../src/client/errors.js';
import type { BatchState } from '../../src/contract/batch/batch.js';
import { searchAttribute } from '../../src/contract/names.js';
import { newOrderId } from '../support/lab.js';
import {
  csvOf,
  executedOf,
  testRows,
  untilPhase,
  untilState,
  useBatchLab,
} from '../workflows/batch/batches.fixture.js';

const lab = useBatchLab();

const write = (path: string, content: string) => writeFile(join(lab.folder, path), content);

/** A file of fresh rows and the input of its batch. */
async function batchOf(label: string, { count = 2, ...options }: Partial<BatchStart> & { count?: number } = {}) {
  const rows = testRows(label, count);
  const path = `${newOrderId(label)}.csv`;
  await write(path, csvOf(rows));
  const input: BatchStart = { file: { path }, startedBy: 'ann', ...options };
  return { rows, path, input };
}

const errorOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

describe.concurrent('plan', () => {
  it('adds the file up and starts no order', async () => {
    const { rows, input } = await batchOf('plan');
    const plan = await lab.orders.batches.plan(input);
    expect(plan).toMatchObject({
      account: 'default',
      rows: 2,
      currencies: [{ currency: 'usd', rows: 2, total: '25' }],
    });
    expect(plan.batchId).toBe(plan.sha256.slice(0, 16));
    // Other tests pay at the same time, so the balances of a second plan may differ, and its digest with them.
    expect((await lab.orders.batches.plan(input)).orders).toBe(plan.orders);
    // Each plan asks what the service has of them.
    expect(lab.requestsOf(rows[0]?.id ?? '')).toEqual(['/v2/order/list', '/v2/order/list']);
  });

  it('says that there is no such file', async () => {
    const plan = lab.orders.batches.plan({ file: { path: 'nowhere.csv' }, startedBy: 'ann' });
    await expect(plan).rejects.toMatchObject({ name: 'FailedError', subject: 'batch', type: 'BatchFileUnusable' });
  });

  it('refuses bad input before asking anybody', async () => {
    const bad = { file: { path: '/etc/passwd' }, rows: [], startedBy: '', maxInFlight: 0, speed: 'high' };
    const error = await errorOf(lab.orders.batches.plan(bad as BatchStart));
    expect(error).toBeInstanceOf(InvalidInputError);
    expect((error as InvalidInputError).fields.map(({ field }) => field).toSorted()).toEqual([
      'file.path',
      'maxInFlight',
      'rows',
      'speed',
      'startedBy',
    ]);
  });
});

describe.concurrent('start', () => {
  it('names the batch by its content, which it pins', async () => {
    const { rows, input } = await batchOf('named');
    const { sha256 } = await lab.orders.batches.plan(input);
    const batch = await lab.orders.batches.start(input);
    expect(batch).toMatchObject({ batchId: sha256.slice(0, 16), attached: false });
    expect(await batch.result()).toMatchObject({ batchId: batch.batchId, outcomes: { completed: 2 } });
    expect(executedOf(lab, rows)).toBe(2);
    const described = await lab.temporal.client.workflow.getHandle(batch.workflowId).describe();
    expect(described.typedSearchAttributes.get(searchAttribute.batchId)).toBe(batch.batchId);
    expect(described.typedSearchAttributes.get(searchAttribute.account)).toBe('default');
    expect(await described.staticSummary()).toBe(`batch from ${input.file?.path}`);
  });

  it('of the same content attaches, by any name and by many at once, running or ended', async () => {
    const { rows, input } = await batchOf('twice');
    await write(`other-${input.file?.path}`, csvOf(rows));
    const other = { ...input, startedBy: 'bob', file: { path: `other-${input.file?.path}` } };
    const started = await Promise.all([input, other, input].map((one) => lab.orders.batches.start(one)));
    expect(started.filter(({ attached }) => !attached)).toHaveLength(1);
    const [result] = await Promise.all(started.map((batch) => batch.result()));
    const again = await lab.orders.batches.start(other);
    expect(again.attached).toBe(true);
    expect(await again.result()).toEqual(result);
    expect(executedOf(lab, rows)).toBe(2);
  });

  it('of another content or other options under a used id is a conflict that names them', async () => {
    const batchId = newOrderId('conflict');
    const { input } = await batchOf('conflict', { batchId, resend: 'never' });
    await (await lab.orders.batches.start(input)).result();
    const { input: changed } = await batchOf('conflict', {
      batchId,
      compensation: 'report',
      stopAfter: { failures: 3 },
    });
    const error = await errorOf(lab.orders.batches.start(changed));
    expect(error).toBeInstanceOf(ConflictError);
    expect((error as ConflictError).fields.toSorted()).toEqual(['compensation', 'file.sha256', 'resend', 'stopAfter']);
  });

  it('takes rows inline and compares their amounts as numbers', async () => {
    const order = (amount: string) => ({
      order_id: id,
      currency: 'usd',
      network: 'card',
      amount,
      wallet: '4111111111111111',
    });
    const id = newOrderId('inline');
    const input = { batchId: newOrderId('inline'), startedBy: 'ann' };
    const batch = await lab.orders.batches.start({ ...input, rows: [order('12.50')] });
    expect(await lab.orders.batches.start({ ...input, rows: [order('12.5')] })).toMatchObject({ attached: true });
    await expect(lab.orders.batches.start({ ...input, rows: [order('13')] })).rejects.toMatchObject({
      fields: ['rows[0].amount'],
    });
    expect(await batch.result()).toMatchObject({ rows: 1, outcomes: { completed: 1 } });
  });
});

describe.concurrent('a batch', () => {
  it('takes only the approval of its digest by somebody else', async () => {
    const { input } = await batchOf('approve', { approval: 'required' });
    const batch = await lab.orders.batches.start(input);
    const { plan } = await untilPhase(batch, 'awaitingApproval');
    const digest = plan?.digest ?? '';
    await expect(batch.approve({ digest: '00', by: 'bob' })).rejects.toMatchObject({
      name: 'RefusedError',
      subject: 'batch',
      request: 'instruction',
    });
    await expect(batch.approve({ digest, by: ' ANN' })).rejects.toThrow('somebody else must approve it');
    await expect(batch.result({ timeoutMs: 200 })).rejects.toMatchObject({
      name: 'NotDecidedYetError',
      subject: 'batch',
    });
    await batch.approve({ digest, by: 'bob' });
    expect(await batch.result()).toMatchObject({ digest, outcomes: { completed: 2 } });
    expect(await batch.state()).toMatchObject({ phase: 'done', approvedBy: 'bob' });
    await expect(batch.stop({ by: 'bob', reason: 'too late' })).rejects.toThrow('it has ended');
  });

  it('shows its rows as they are sent, not only when a chunk of them is done', async () => {
    const { input } = await batchOf('live', { count: 40, maxInFlight: 2 });
    const batch = await lab.orders.batches.start(input);
    const workflow = lab.temporal.client.workflow.getHandle(batch.workflowId);
    await untilState(batch, ({ progress }) => progress.started > 0);
    await vi.waitFor(
      async () => {
        const known = await workflow.query<BatchState>('batchState');
        const shown = await batch.state();
        expect(shown.progress.started).toBeGreaterThan(known.progress.started);
      },
      { timeout: 60_000, interval: 100 },
    );
    await batch.stop({ by: 'bob', reason: 'seen enough' });
  });

  it('that was terminated has no result and may not be taken for failed', async () => {
    const { input } = await batchOf('terminated', { approval: 'required' });
    const batch = await lab.orders.batches.start(input);
    await untilPhase(batch, 'awaitingApproval');
    await lab.temporal.client.workflow.getHandle(batch.workflowId).terminate('by mistake');
    await expect(batch.result()).rejects.toMatchObject({ name: 'UnresolvedError', subject: 'batch' });
  });

  it('that Temporal does not know is unknown to every method', async () => {
    const batch = lab.orders.batches.handle('never-started');
    const calls = [batch.state(), batch.result(), batch.isOpen(), batch.approve({ digest: 'x', by: 'bob' })];
    await Promise.all(
      calls.map((call) => expect(call).rejects.toMatchObject({ name: 'UnknownIdError', subject: 'batch' })),
    );
  });
});
