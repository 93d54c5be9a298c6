import Big from 'big.js';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { orderWorkflowId } from '../../../src/contract/names.js';
import type { OrderType } from '../../../src/contract/order/types.js';
import { type Lab, openLab } from '../../support/lab.js';
import { atService, decideNow, executions, parkedFor, startSteered, trueRemainder } from './parked-orders.fixture.js';

let lab: Lab;
beforeAll(async () => {
  // Follow-ups take 600 ms: long enough to meddle with them.
  lab = await openLab({ sandbox: { settings: { durationsMs: { execute: 3000 } } } });
});
afterAll(() => lab?.close());

const HALF = 'outcome=completed_partially fraction=0.4';
const workflow = (orderId: string) => lab.temporal.client.workflow.getHandle(orderWorkflowId('default', orderId));
const exists = (orderId: string) => vi.waitUntil(() => executions(lab, orderId) > 0, { timeout: 60_000, interval: 20 });

/** Type, what is left, marker, type of the follow-up; 'policy': it does so by itself, otherwise a person decides. */
const FINISHED: [OrderType, what: string, marker: string, as: OrderType, by: 'policy' | 'decision'][] = [
  ['withdraw', 'R_T', HALF, 'withdraw', 'policy'],
  ['exchange', 'R_F', HALF, 'exchange', 'policy'],
  ['deposit_exchange', 'R_F', HALF, 'exchange', 'policy'],
  ['exchange_withdraw', 'R_F', `${HALF} left=unexchanged`, 'exchange_withdraw', 'policy'],
  ['exchange_withdraw', 'R_T', `${HALF} left=unpaid`, 'withdraw', 'policy'],
  ['deposit_exchange_withdraw', 'R_F', `${HALF} left=unexchanged`, 'exchange_withdraw', 'policy'],
  ['deposit_exchange_withdraw', 'R_T', `${HALF} left=unpaid`, 'withdraw', 'policy'],
  ['withdraw', 'all of it', 'outcome=error', 'withdraw', 'decision'],
  ['exchange', 'all of it', 'outcome=error', 'exchange', 'decision'],
  ['exchange_withdraw', 'R_T after an error', 'outcome=error stage=after-exchange', 'withdraw', 'decision'],
  ['deposit_exchange', 'R_F after an error', 'outcome=error stage=after-deposit', 'exchange', 'decision'],
];

describe.concurrent('finish', () => {
  test.for(FINISHED)('%s with %s left (%s): the follow-up %s moves exactly that, once, by %s', async (row) => {
    const [type, , marker, as, by] = row;
    const byPolicy = by === 'policy';
    const { orderId, handle } = await startSteered(lab, type, { marker, compensation: 'finish' });
    if (!byPolicy) {
      await parkedFor(handle);
      await decideNow(handle, 'finish');
    }
    const result = await handle.result();
    const remainder = trueRemainder(lab, orderId);
    expect(result.remainder).toBeUndefined();
    expect(result).toMatchObject({
      compensation: { policy: 'finish', status: 'done', order_id: `${orderId}.r1`, outcome: 'completed' },
    });
    expect(result.decisions?.length ?? 0).toBe(byPolicy ? 0 : 1);
    expect((await handle.state()).attention).toBeUndefined();

    expect(executions(lab, `${orderId}.r1`)).toBe(1);
    const [parent, child] = [atService(lab, orderId).order, atService(lab, `${orderId}.r1`).order];
    expect(child).toMatchObject({
      order_type: as,
      status: 'completed',
      description: `Follow-up of ${orderId}`,
      expected_amount_from: remainder[0]?.amount,
      currency_from: remainder[0]?.currency,
      wallet_to: parent.wallet_to,
      network_to: parent.network_to,
    });
    expect(await workflow(`${orderId}.r1`).result()).toMatchObject({ compensation: { policy: 'report' } });
  });

  test('an exact payout is never exceeded, although the rate moved', async () => {
    const order = { amount: undefined, amount_to: '95.5' };
    const marker = `${HALF} left=unpaid rate=1.05`;
    const { orderId, handle } = await startSteered(lab, 'exchange_withdraw', { marker, order });
    expect((await parkedFor(handle)).attention?.allowed).toContain('finish');
    await decideNow(handle, 'finish');
    await handle.result();
    const paid = [orderId, `${orderId}.r1`].map((id) => atService(lab, id).order.amount_to ?? '0');
    const total = paid.reduce((all, amount) => all.plus(amount), new Big(0));
    expect(total.lte('95.5'), `${paid.join(' + ')} of 95.5`).toBe(true);
  });

  test('a payout whose recipient bears the commission says before and after that it is borne twice', async () => {
    const order = { network: 'bank', wallet: 'ACCOUNT-1', wallet_details: { bank_code: '123' } };
    const { orderId, handle } = await startSteered(lab, 'withdraw', { marker: HALF, order, compensation: 'ask' });
    await parkedFor(handle, 'the recipient bears a second commission');
    await decideNow(handle, 'finish');
    expect((await handle.result()).compensation).toMatchObject({
      status: 'done',
      reason: 'the recipient bears a second commission',
    });
    expect(atService(lab, `${orderId}.r1`).order).toMatchObject({
      wallet_to: 'ACCOUNT-1',
      wallet_to_details: { bank_code: '123' },
    });
  });

  test('a remainder below the pair’s minimum is not possible, and a person is told', async () => {
    const marker = 'outcome=completed_partially fraction=0.04';
    const { orderId, handle } = await startSteered(lab, 'withdraw', { marker, compensation: 'finish' });
    expect(await handle.result()).toMatchObject({
      remainder: [{ kind: 'unpaid', currency: 'usd', amount: '0.5' }],
      compensation: { policy: 'finish', status: 'not_possible', reason: expect.stringContaining('minimum of 1') },
    });
    expect((await handle.state()).attention?.reason).toContain('below the minimum');
    expect(executions(lab, `${orderId}.r1`)).toBe(0);
  });

  test('a balance that is too small asks, and can be topped up', async () => {
    const order = { currency: 'eur' };
    const { orderId, handle } = await startSteered(lab, 'withdraw', { marker: HALF, order, compensation: 'ask' });
    await parkedFor(handle);
    lab.sandbox.set({ balances: { eur: '5.10' } });
    await decideNow(handle, 'finish');
    const { attention } = await parkedFor(handle, 'the balance of 5.1 eur is less than');
    expect(attention?.allowed).toEqual(['finish', 'accept']);
    expect(executions(lab, `${orderId}.r1`)).toBe(0);
    lab.sandbox.set({ balances: { eur: '1000' } });
    await decideNow(handle, 'finish');
    expect(await handle.result()).toMatchObject({
      compensation: { policy: 'ask', status: 'done' },
      decisions: [{ action: 'finish' }, { action: 'finish' }],
    });
  });
});

describe.concurrent('a follow-up that runs', () => {
  const startFollowUp = async () => {
    const started = await startSteered(lab, 'withdraw', { marker: HALF, compensation: 'finish' });
    await exists(`${started.orderId}.r1`);
    return started;
  };

  test('outlives the cancellation of its order, which still tells how it ended', async () => {
    const { orderId, handle } = await startFollowUp();
    await workflow(orderId).cancel();
    expect((await handle.result()).compensation).toMatchObject({ status: 'done', outcome: 'completed' });
    expect(executions(lab, `${orderId}.r1`)).toBe(1);
  });

  test('whose workflow is stopped proves nothing: the order parks', async () => {
    const { orderId, handle } = await startFollowUp();
    await workflow(`${orderId}.r1`).terminate('test');
    const { attention } = await parkedFor(handle, 'was stopped: its order may exist');
    expect(attention?.allowed).toEqual(['accept']);
    await decideNow(handle, 'accept');
    const { compensation } = await handle.result();
    expect(compensation).toMatchObject({ status: 'failed', order_id: `${orderId}.r1` });
    expect(compensation).not.toHaveProperty('outcome');
  });

  test.for(['ended', 'still runs'])('that %s is followed, not started again, when its order is reset', async (when) => {
    const { orderId, handle } = await startFollowUp();
    if (when === 'ended') await handle.result();
    const { runId } = await workflow(`${orderId}.r1`).describe();
    await resetBeforeFollowUp(orderId);
    expect((await handle.result()).compensation).toMatchObject({ status: 'done', outcome: 'completed' });
    expect(executions(lab, `${orderId}.r1`)).toBe(1);
    expect((await workflow(`${orderId}.r1`).describe()).runId).toBe(runId);
    expect(executions(lab, `${orderId}.r2`)).toBe(0);
    expect(lab.sandbox.stats().createsByOrderId[`${orderId}.r1`]).toBe(1);
  });
});

/** Cuts the order's history right before its follow-up was started and lets it run on from there. */
async function resetBeforeFollowUp(orderId: string): Promise<void> {
  const { client, namespace } = lab.temporal;
  const { events } = await workflow(orderId).fetchHistory();
  const start = events?.find((event) => event.startChildWorkflowExecutionInitiatedEventAttributes);
  const { runId } = await workflow(orderId).describe();
  await client.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId: orderWorkflowId('default', orderId), runId },
    reason: 'test',
    requestId: `reset-${orderId}`,
    workflowTaskFinishEventId: start?.startChildWorkflowExecutionInitiatedEventAttributes?.workflowTaskCompletedEventId,
  });
}
