import { beforeEach, expect, test, vi } from 'vitest';
import { KEYS, testApprovers } from '../../support/approvers.js';
import { useLab } from '../../support/lab.js';
import { decideNow, executions, parkedFor, startSteered } from './parked-orders.fixture.js';

/* Limits that an order was given hold for its follow-up, whose worker lacks them. */

const lab = useLab({
  workers: false,
  callbacks: false,
  pace: { confirmDelayMs: 3_000 },
  sandbox: { settings: { duplicateMode: 'c' } },
});
vi.setConfig({ testTimeout: 120_000 });
beforeEach(() => lab.stopWorkers());

const halfPaid = (amount: string, options: object = {}) =>
  startSteered(lab, 'withdraw', {
    marker: 'outcome=completed_partially fraction=0.5',
    ...{ compensation: 'finish', order: { amount }, ...options },
  });
const window = (ms: number) => ({ ...lab.config.pace, settleWindowMs: { atOnce: ms, deposit: ms } });

/** The follow-up of an order, after workers with other settings have taken over before it is sent. */
async function followUpOf({ orderId, handle }: Awaited<ReturnType<typeof halfPaid>>, config: object = {}) {
  await vi.waitUntil(async () => (await handle.state()).waitingFor.startsWith('the second reading'), 60_000);
  await lab.replaceWorkers(config);
  const followUp = lab.orders.order(`${orderId}.r1`);
  await vi.waitUntil(() => followUp.isOpen().catch(() => false), { timeout: 60_000, interval: 50 });
  return followUp;
}

test('after its latest send time, a follow-up is not sent, and a person is asked about the order', async () => {
  await lab.startWorkers();
  const latestSend = new Date(Date.now() + 3_000).toISOString();
  const { orderId, handle } = await halfPaid('12.50', { latestSend });
  const { attention } = await parkedFor(handle, `its latest send time ${latestSend} is over`);
  expect(attention?.allowed).toContain('accept');
  await decideNow(handle, 'accept');
  expect((await handle.result()).compensation?.status).toBe('failed');
  expect(executions(lab, `${orderId}.r1`)).toBe(0);
});

test('caps, and that decisions are signed', async () => {
  await lab.startWorkers({ caps: new Map([['usd', '20']]), approvers: testApprovers() });
  const order = await halfPaid('60');
  const { revision, attention: { amount, currency } = {} } = await parkedFor(order.handle, 'above the cap of 20 usd');
  const approval = { action: 'approve', by: 'Ann Smith', reason: 'as agreed', revision, amount, currency } as const;
  await order.handle.decide(approval, { signer: KEYS.ann });
  const followUp = await followUpOf(order);
  await parkedFor(followUp, '30 usd is above the cap of 20 usd');
  await expect(decideNow(followUp, 'approve')).rejects.toThrow('signature');
  expect(executions(lab, `${order.orderId}.r1`)).toBe(0);
});

test('the window over which a create is proven absent', async () => {
  await lab.startWorkers({ pace: window(10_000) });
  const order = await halfPaid('12.50');
  await vi.waitUntil(async () => (await order.handle.state()).waitingFor.startsWith('the second reading'), 60_000);
  lab.sandbox.set({ faults: { 'create.500-after': 1 }, visibilityLagMs: 7_000 });
  const followUp = await followUpOf(order, { pace: window(500) });
  await vi.waitUntil(() => executions(lab, `${order.orderId}.r1`) > 0, { timeout: 30_000, interval: 20 });
  lab.sandbox.set({ faults: {} });
  await followUp.result();
  expect(executions(lab, `${order.orderId}.r1`)).toBe(1);
});
