import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test, vi } from 'vitest';
import { serviceOf } from '../../../scripts/service-of.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';
import { type GateRule, operationOf } from '../../support/service-gate.js';
import { decideNow, executions, parkedFor, startSteered } from './parked-orders.fixture.js';

vi.setConfig({ testTimeout: 200_000 });

const WINDOW_MS = 3_000;
const isFirst = (id: string) => id.endsWith('.r1');
const json = (data: unknown) => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ status: 'success', data }),
});

let rule: GateRule = () => undefined;
const lab = useGatedLab((request) => rule(request), {
  quiet: true,
  pace: { settleWindowMs: { atOnce: WINDOW_MS, deposit: WINDOW_MS } },
  sandbox: { settings: { duplicateMode: 'c' } },
});
beforeEach(() => {
  rule = () => undefined;
});

/** Ordinary payouts of the account, all of them accepted and shown. */
async function ordinary(until: () => Promise<boolean> | boolean, id: (n: number) => string, most: number) {
  let n = 0;
  for (; n < most && !(await until()); n += 1) {
    await lab.orders.start('withdraw', orderInput('withdraw', id(n)));
    await sleep(1_000);
  }
  return n;
}

test('a refused follow-up was executed, and its callback is acknowledged after its end: the rest is not offered again', async () => {
  const isHidden = true;
  rule = async ({ path, orderId = '', body }) => {
    const operation = operationOf(path);
    const service = await serviceOf(lab.sandbox);
    if (operation === 'create' && isFirst(orderId)) {
      const request = { ...JSON.parse(body), amount: String(JSON.parse(body).amount) };
      await service.createOrder('withdraw', request);
      return { status: 400, body: '{}' };
    }
    if (!isHidden) return undefined;
    if (operation === 'status' && isFirst(orderId)) return { status: 400, body: '{}' };
    if (operation !== 'list') return undefined;
    const { items } = await service.orders().page(JSON.parse(body));
    return json(items.filter(({ user_order_id: id }) => !isFirst(id)));
  };
  // The service calls back late.
  lab.sandbox.set({ callbacks: { enabled: false } });
  const { orderId, handle } = await startSteered(lab, 'withdraw', {
    marker: 'outcome=completed_partially fraction=0.4',
    compensation: 'finish',
  });
  const first = `${orderId}.r1`;
  await vi.waitUntil(() => executions(lab, first) === 1, { timeout: 60_000, interval: 50 });
  const isAsked = async () => (await handle.state()).attention?.code === 'remainder';
  // Later orders under ids of the follow-up's kind: its absence is believed.
  await ordinary(isAsked, (n) => `${newOrderId('withdraw')}.as-long-as-${n}`, 40);
  await parkedFor(handle, 'came to no order (OrderRejected)');
  const uuid = lab.sandbox.orders().find(({ order }) => order.user_order_id === first)?.order.order_uuid ?? '';
  expect(await lab.sandbox.sendCallback(uuid)).toBe(200);
  await sleep(2 * WINDOW_MS);
  const { attention } = await handle.state();
  // Before it is sent, everything is read again.
  if (attention?.allowed.includes('finish')) await decideNow(handle, 'finish');
  await parkedFor(handle, `a callback named order ${uuid} for ${first}`, 60_000);
  expect([first, `${orderId}.r2`].map((id) => executions(lab, id))).toEqual([1, 0]);
});
