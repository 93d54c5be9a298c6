import { expect, test, vi } from 'vitest';
import { orderWorkflowId } from '../../../src/contract/names.js';
import { useLab } from '../../support/lab.js';
import { atService, decideNow, executions, parkedFor, startSteered } from './parked-orders.fixture.js';

const lab = useLab({ pace: { confirmDelayMs: 2_000 } });
const HALF = 'outcome=completed_partially fraction=0.4';

test('a result names what is left after a follow-up that paid a part', async () => {
  const { orderId, handle } = await startSteered(lab, 'withdraw', { marker: HALF, compensation: 'finish' });
  const isReadAgain = async () => (await handle.state()).waitingFor.startsWith('the second reading');
  await vi.waitUntil(isReadAgain, { timeout: 60_000, interval: 20 });
  lab.sandbox.set({ outcomes: { completed_partially: 1 } });
  await parkedFor(handle, 'ended completed_partially');
  lab.sandbox.set({ outcomes: {} });
  await decideNow(handle, 'accept');
  const { unpaid } = atService(lab, `${orderId}.r1`).truth;
  expect(await handle.result()).toMatchObject({
    remainder: [{ kind: 'unpaid', currency: 'usd', amount: unpaid }],
    compensation: { status: 'failed', order_id: `${orderId}.r1` },
  });
});

test('what is left is unknown after a follow-up whose workflow was stopped', async () => {
  const { orderId, handle } = await startSteered(lab, 'withdraw', { marker: HALF, compensation: 'finish' });
  const followUp = lab.temporal.client.workflow.getHandle(orderWorkflowId('default', `${orderId}.r1`));
  await vi.waitUntil(() => executions(lab, `${orderId}.r1`) === 1, { timeout: 60_000, interval: 5 });
  await followUp.terminate('all of this account, by a query');
  await parkedFor(handle, 'was stopped: its order may exist');
  await decideNow(handle, 'accept');
  const { remainder, remainderUnknown } = await handle.result();
  expect({ remainder, remainderUnknown }).toEqual({ remainderUnknown: expect.stringContaining(`${orderId}.r1`) });
});

test('nothing is left after a follow-up that paid the rest', async () => {
  const { handle } = await startSteered(lab, 'withdraw', { marker: HALF, compensation: 'finish' });
  const { remainder, remainderUnknown, compensation } = await handle.result();
  expect([remainder, remainderUnknown, compensation?.status]).toEqual([undefined, undefined, 'done']);
});
