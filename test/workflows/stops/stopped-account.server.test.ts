import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startApi } from '../../../src/api/server.js';
import type { BatchStart } from '../../../src/client/batch/batches.js';
import { resetTo } from '../../reliability/reset.fixture.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';
import { runStarterWith } from '../../support/run-starter.js';

const ANN = { by: 'Ann Smith', reason: 'the bank called' };
const BOB = { by: 'Bob Jones', reason: 'it was a mistake' };

const lab = useLab();

const stop = async (): Promise<void> => {
  await lab.orders.accounts.stop('default', ANN);
  // Only for what a failed test leaves behind.
  onTestFinished(() => lab.orders.accounts.resume('default', BOB).catch(() => undefined));
  // A worker may go by what it read a second ago.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
};
const resume = () => lab.orders.accounts.resume('default', BOB);
const start = (id: string) => lab.orders.start('withdraw', orderInput('withdraw', id));
const createsOf = (id: string) => lab.requestsOf(id).filter((path) => path.endsWith('/order/withdraw')).length;

/** Resolves once the page of an order says that it waits for the stop. */
const untilWaiting = (id: string) =>
  vi.waitFor(
    async () => {
      const state = await lab.orders.order(id).state();
      expect(state.waitingFor).toContain('account default is stopped');
      return state;
    },
    { timeout: 60_000, interval: 50 },
  );

async function resetToStart(workflowId: string): Promise<void> {
  const { runId } = await lab.temporal.client.workflow.getHandle(workflowId).describe();
  await resetTo(lab, { workflowId, runId }, '3');
}

describe('a stopped account', () => {
  test('holds back an order, says who stopped it, when and why, and sends it once after the resume', async () => {
    const id = newOrderId('stopped');
    await stop();
    const handle = await start(id);
    const state = await untilWaiting(id);
    expect(state).toMatchObject({ phase: 'creating', decisions: [] });
    expect(state.attention).toBeUndefined();
    expect(state.waitingFor).toMatch(
      /^account default is stopped since \S+ \S+ UTC by Ann Smith: the bank called\. Nothing is sent/,
    );
    expect(await lab.orders.accounts.stopped()).toEqual([{ account: 'default', ...ANN, at: expect.any(String) }]);
    const events = await lab.events(id);
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    expect([createsOf(id), await lab.events(id)]).toEqual([0, events]);
    const resumedAtMs = Date.now();
    await resume();
    expect((await handle.result()).outcome).toBe('completed');
    expect(Date.now() - resumedAtMs).toBeLessThan(10_000);
    expect(createsOf(id)).toBe(1);
    expect(await lab.orders.accounts.state('default')).toEqual({ account: 'default' });
  });

  test('still looks up, follows and ends what was sent before, and reads', async () => {
    const id = newOrderId('sent');
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', id, { marker: 'after_ms=3000' }));
    await handle.created();
    await stop();
    expect((await handle.result()).outcome).toBe('completed');
    expect(Object.keys(await lab.orders.balances())).toContain('usd');
    await resume();
  });

  test('holds back follow-ups and permanent addresses, without attention', async () => {
    const [id, ref] = [newOrderId('partial'), newOrderId('ref')];
    const options = {
      marker: 'outcome=completed_partially fraction=0.5 after_ms=1500',
      compensation: 'finish',
    } as const;
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', id, options));
    await handle.created();
    await stop();
    const address = lab.orders.createAddress({ ref, address: { currency: 'usdt', network: 'tron' } });
    await untilWaiting(`${id}.r1`);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(createsOf(`${id}.r1`)).toBe(0);
    expect(await lab.orders.addressList()).not.toContainEqual(expect.objectContaining({ ref }));
    const { memo, searchAttributes } = await lab.temporal.client.workflow
      .getHandle(`address:default:${ref}`)
      .describe();
    expect([memo, searchAttributes.PaymentNeedsAttention]).toEqual([{}, undefined]);
    await resume();
    expect((await address).adopted).toBe(false);
    expect((await handle.result()).compensation?.status).toBe('done');
    expect(createsOf(`${id}.r1`)).toBe(1);
  });

  test('is named by the list of orders, and by a batch and its rows', async () => {
    await stop();
    const batchId = newOrderId('stopped-batch');
    const rows = [orderInput('withdraw', newOrderId('stopped-row')).order];
    const batch = await lab.orders.batches.start({ batchId, rows, startedBy: 'ann' } as BatchStart);
    const run = async (...argv: string[]) => (await runStarterWith(async () => lab.orders, argv)).stdout;
    const why = /account default sends no create: account default is stopped since .* by Ann Smith: the bank called\. /;
    for (const argv of [
      ['order', 'list'],
      ['batch', 'show', batchId],
      ['batch', 'rows', batchId],
    ]) {
      await expect.poll(() => run(...argv), { timeout: 60_000 }).toMatch(why);
      expect(JSON.parse(await run(...argv, '--json')).stops).toEqual([expect.stringMatching(why)]);
    }
    const errorsOf = async (...argv: string[]) => (await runStarterWith(async () => lab.orders, argv)).stderr;
    expect(await errorsOf('batch', 'rows', batchId, '--ndjson')).toMatch(why);
    expect(await errorsOf('batch', 'show', batchId, '--watch', '--timeout', '2s')).toMatch(why);
    await resume();
    await batch.result();
    expect(await run('batch', 'rows', batchId)).not.toContain('sends no create');
  });

  test('lets an order be cancelled and be held while it waits', async () => {
    const [cancelled, held] = [newOrderId('cancelled'), newOrderId('held')];
    await stop();
    const handles = await Promise.all([cancelled, held].map(start));
    await Promise.all([cancelled, held].map(untilWaiting));
    await handles[0]?.cancel();
    await expect(handles[0]?.result()).rejects.toMatchObject({ type: 'OrderCancelled' });
    const answer = await handles[1]?.hold(ANN);
    expect(answer).toMatchObject({ phase: 'parked', attention: { code: 'held', allowed: ['release', 'refuse'] } });
    await resume();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(await handles[1]?.state()).toMatchObject({ phase: 'parked', attention: { code: 'held' } });
    expect([createsOf(cancelled), createsOf(held)]).toEqual([0, 0]);
    const { revision = 0, runId } = answer ?? {};
    await handles[1]?.decide({ action: 'refuse', ...BOB, revision, runId });
    await expect(handles[1]?.result()).rejects.toMatchObject({ type: 'OrderCancelled' });
  });

  test('whose name no worker knows: a stop says so within seconds, and what that means', async () => {
    const startedMs = Date.now();
    await expect(lab.orders.accounts.stop('defualt', ANN)).rejects.toMatchObject({
      name: 'NoWorkerError',
      message: expect.stringMatching(
        /^No worker has served account "defualt" .* If the name is wrong, the account that you mean is as it was/,
      ),
    });
    expect(Date.now() - startedMs).toBeLessThan(8_000);
  });

  test('refuses a second stop and a second resume, and stays stopped if its workflow is terminated', async () => {
    await stop();
    await expect(lab.orders.accounts.stop('default', BOB)).rejects.toThrow('it is stopped already by Ann Smith');
    await lab.temporal.client.workflow.getHandle('stop:default').terminate('by hand');
    const id = newOrderId('terminated');
    const handle = await start(id);
    await untilWaiting(id);
    expect(await lab.orders.accounts.stopped()).toMatchObject([{ account: 'default', by: 'Ann Smith' }]);
    await expect(lab.orders.accounts.stop('default', BOB)).rejects.toThrow('it is stopped already by Ann Smith');
    expect(await lab.orders.accounts.stopped()).toMatchObject([{ account: 'default', by: 'Ann Smith' }]);
    await resetToStart('stop:default');
    expect(await lab.orders.accounts.state('default')).toMatchObject({ stop: { by: 'Ann Smith' } });
    expect(createsOf(id)).toBe(0);
    await resume();
    expect((await handle.result()).outcome).toBe('completed');
    await expect(resume()).rejects.toThrow('it is not stopped');
  });

  test('is shown in Temporal as what a person should look at, until the resume', async () => {
    await stop();
    const check = await lab.orders.check('withdraw', orderInput('withdraw', newOrderId('checked')));
    expect(check).toMatchObject({ wouldBeSent: false, reasons: [expect.stringContaining('is stopped')] });
    const described = () => lab.temporal.client.workflow.getHandle('stop:default').describe();
    const { searchAttributes } = await described();
    expect(searchAttributes).toMatchObject({
      PaymentNeedsAttention: [true],
      PaymentAttentionReason: ['account-stopped'],
      PaymentAccount: ['default'],
    });
    await resume();
    await vi.waitFor(async () => expect((await described()).searchAttributes.PaymentNeedsAttention).toEqual([false]), {
      timeout: 60_000,
    });
  });

  test('is stopped, shown and resumed over HTTP', async () => {
    const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
    const api = await startApi({ host: '127.0.0.1', port: 0, orders: lab.orders, log });
    onTestFinished(() => api.close());
    const ask = async (path: string, body?: object) => {
      const init = body && {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      };
      const answer = await fetch(`${api.url}/v1/${path}`, init);
      return { status: answer.status, body: (await answer.json()) as object };
    };
    const shown = { account: 'default', stop: { ...ANN, at: expect.any(String) } };
    expect(await ask('accounts/default/stop', ANN)).toMatchObject({ status: 200, body: shown });
    expect(await ask('accounts/default')).toMatchObject({ status: 200, body: shown });
    expect(await ask('accounts')).toMatchObject({ body: { stopped: [{ account: 'default', ...ANN }] } });
    expect(await ask('accounts/default/stop', ANN)).toMatchObject({ status: 409 });
    expect(await ask('accounts/default/resume', { by: 'Bob' })).toMatchObject({ status: 422 });
    const id = newOrderId('http');
    await start(id);
    await untilWaiting(id);
    const held = { orderId: id, state: { phase: 'parked', attention: { code: 'held' } } };
    expect(await ask(`orders/${id}/hold`, ANN)).toMatchObject({ status: 200, body: held });
    expect(await ask(`orders/${id}/hold`, ANN)).toMatchObject({ status: 409 });
    expect(await ask('accounts/default/resume', BOB)).toMatchObject({ status: 200, body: { account: 'default' } });
  });
});
