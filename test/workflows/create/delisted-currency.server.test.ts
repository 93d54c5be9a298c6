import { expect, test, vi } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';

const SETTLE_MS = 2_500;

const lab = useGatedLab(undefined, {
  workers: false,
  callbacks: false,
  pace: { settleWindowMs: { atOnce: SETTLE_MS, deposit: SETTLE_MS } },
});

test('an uncertain order ends by itself although all wallets of its account were delisted since', async () => {
  const input = orderInput('withdraw', newOrderId('delisted'), { marker: 'create=500 lag_ms=1500 duplicate=c' });
  const handle = await lab.orders.start('withdraw', input);
  await lab.startWorkers();
  await vi.waitFor(() => expect(lab.sandbox.stats().createsByOrderId[handle.orderId]).toBe(1), 60_000);
  lab.sandbox.set({ faults: { 'list.500': 1, 'status.500': 1 } });
  await lab.stopWorkers();
  lab.sandbox.set({ faults: {} });
  const body = JSON.stringify({ status: 'success', data: {} });
  lab.gate.rule = ({ path }) => (path.endsWith('/balances') ? { status: 200, body } : undefined);
  await lab.startWorkers();
  expect(await handle.result({ timeoutMs: 30_000 })).toMatchObject({ outcome: 'completed', adopted: true });
  expect(lab.sandbox.stats().executedByOrderId[handle.orderId]).toBe(1);
});
