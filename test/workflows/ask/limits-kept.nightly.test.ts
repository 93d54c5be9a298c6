import { beforeEach, expect, test, vi } from 'vitest';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import type { CreateRequests } from '../../../src/contract/order/request.js';
import { KEYS, testApprovers } from '../../support/approvers.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';
import { decideNow, executions, parkedFor } from '../compensation/parked-orders.fixture.js';

/* A run was given limits by one worker; another one without them answers from then on. */

const window = (ms: number) => ({ settleWindowMs: { atOnce: ms, deposit: ms } });

let isBusy = false;
const busy = { status: 429, headers: { 'retry-after': '1' }, body: '{}' };
const lab = useGatedLab(({ path }) => (isBusy && path.endsWith('/order/list') ? busy : undefined), {
  workers: false,
  callbacks: false,
});
beforeEach(async () => {
  isBusy = false;
  await lab.stopWorkers();
});

function start(marker: string, amount = '12.50'): Promise<OrderHandle> {
  const input = orderInput('withdraw', newOrderId('kept'), { marker });
  return lab.orders.start('withdraw', { ...input, order: { ...input.order, amount } as CreateRequests['withdraw'] });
}

test('absence is proven over the window that the order was sent under, though a worker with a short one goes on', async () => {
  await lab.startWorkers({ pace: { ...lab.config.pace, ...window(16_000) } });
  const handle = await start('create=500-after lag_ms=12000 duplicate=c');
  await vi.waitUntil(async () => (await handle.state()).lastLookupAt, { timeout: 20_000, interval: 20 });
  await lab.replaceWorkers();
  expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
  expect(executions(lab, handle.orderId)).toBe(1);
});

test('a run that was told that signatures count takes no unsigned decision from a worker that asks for none', async () => {
  const caps = new Map([['usd', '20']]);
  const approvers = testApprovers();
  await lab.startWorkers({ caps, approvers });
  const handle = await start('', '21');
  await parkedFor(handle, 'above the cap');
  await lab.replaceWorkers();
  await expect(decideNow(handle, 'approve')).rejects.toThrow('APPROVERS_FILE');
  expect(executions(lab, handle.orderId)).toBe(0);

  await lab.replaceWorkers({ caps, approvers });
  const { revision, attention: { amount, currency } = {} } = await handle.state();
  const decision = { action: 'approve', by: 'Ann Smith', reason: 'as agreed', revision, amount, currency } as const;
  await handle.decide(decision, { signer: KEYS.ann });
  expect(await handle.result()).toMatchObject({ outcome: 'completed' });
});

test('a cap that an attempt was given holds for the next one, though a worker without caps makes it', async () => {
  isBusy = true;
  await lab.startWorkers({ caps: new Map([['usd', '20']]) });
  const handle = await start('', '21');
  const isWaiting = async () => (await handle.state()).waitingFor.startsWith('the service: ');
  await vi.waitUntil(isWaiting, { timeout: 20_000, interval: 20 });
  await lab.replaceWorkers();
  isBusy = false;
  await parkedFor(handle, 'above the cap of 20 usd');
  expect(executions(lab, handle.orderId)).toBe(0);
  await decideNow(handle, 'refuse');
  await expect(handle.result()).rejects.toMatchObject({ type: 'OrderCancelled' });
});
